import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { concat } from "../../src/crypto/bytes.ts";
import { REGISTRY } from "../../src/model/backup.ts";
import { backUp, backUpAll, newestOf, rowsInDatabase } from "../support/backup.ts";
import { freshFile, pattern } from "../support/files.ts";
import { addPart, changeManifest, loseEverything, objectsIn, restore } from "../support/restores.ts";
import { client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** What a restore refuses, by name, before anything of the vault is visible (contract 21.24). */

const snapshot = (vault: string, number = 1) => `vaults/${vault}/${String(number).padStart(8, "0")}.manifest`;

let vault: string;
let other: string;
/** The keys of the parts that the newest snapshot of the vault names: an earlier one may have had others. */
let parts: ReadonlySet<string>;
/** The bucket of backups as it was. */
let objects: ReadonlyMap<string, Uint8Array>;

beforeAll(async () => {
  const one = await freshFile(pattern(40_000));
  const two = await freshFile(pattern(40_000));
  [vault, other] = [one.vault, two.vault];
  await backUpAll();
  await one.call("POST", one.items, { body: LOGIN });
  await backUp(vault);
  const { manifest } = await newestOf(vault);
  parts = new Set(manifest.parts.map(({ sha256 }) => `vaults/${vault}/parts/${sha256}`));
  await loseEverything();
  objects = await objectsIn(env.BACKUPS);
});

const keysOf = (prefix: string) => [...objects.keys()].filter((key) => key.startsWith(prefix));
/** The largest of some objects. */
const largestOf = (keys: readonly string[]) => keys.toSorted((a, b) => objects.get(b)!.length - objects.get(a)!.length)[0]!;
const largest = (prefix: string) => largestOf(keysOf(prefix));

/** Damages the backup, tries a restore, and repairs the backup. Out: the message of the refusal. */
async function refusal(damage: () => Promise<unknown>, body: object = { vault }): Promise<string> {
  await damage();
  const reply = await restore(body);
  for (const key of (await env.BACKUPS.list()).objects.map((object) => object.key))
    if (!objects.has(key)) await env.BACKUPS.delete(key);
  for (const [key, bytes] of objects) await env.BACKUPS.put(key, bytes);
  expect(reply).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  expect(await env.DB.prepare("SELECT count(*) AS n FROM vaults").first("n")).toBe(0);
  expect(Object.values(await rowsInDatabase(vault)).flat()).toEqual([]);
  return reply.body.message;
}

const cut = (key: string) => () => env.BACKUPS.put(key, objects.get(key)!.slice(0, -1));
const extend = (key: string, text: string) => () =>
  env.BACKUPS.put(key, concat(objects.get(key)!, new TextEncoder().encode(text)));
const replace = (key: string, by: string) => () => env.BACKUPS.put(key, objects.get(by)!);
const change = (key: string) => () => {
  const bytes = objects.get(key)!;
  return env.BACKUPS.put(key, bytes.with(bytes.length - 100, bytes.at(-100)! ^ 1));
};

const part = () => largestOf([...parts]);
const hash = () => part().slice(-64);

const ofVault = () => ({ vault, number: 2 });
const ofRegistry = () => ({ vault: REGISTRY, number: 1 });

async function addColumnToVault(): Promise<void> {
  const { manifest } = await newestOf(vault);
  await changeManifest(ofVault(), { row: { ...manifest.row, colour: "red" } });
}

const withPart = (format: number, line: string) => () => addPart(vault, format, line);

describe("a restore refuses and names", () => {
  it("a part that is truncated, exchanged, of another vault, changed or missing", async () => {
    const foreign = largest(`vaults/${other}/parts/`);
    const sibling = keysOf(`vaults/${vault}/parts/`).find((key) => key !== part())!;
    for (const damage of [cut(part()), replace(part(), sibling), replace(part(), foreign), change(part())])
      expect(await refusal(damage)).toContain(`part ${hash()}`);
    expect(await refusal(() => env.BACKUPS.delete(part()))).toContain(`part ${hash()} is missing`);
  });

  it("a part of another deployment or vault that a manifest names", async () => {
    const { manifest } = await newestOf(other);
    const { parts: theirs, row } = manifest;
    for (const ref of theirs)
      await env.BACKUPS.put(`vaults/${vault}/parts/${ref.sha256}`, objects.get(`vaults/${other}/parts/${ref.sha256}`)!);
    const numbered = { vault, snapshot: 2 };
    expect(await refusal(() => changeManifest({ vault, number: 2 }, { parts: theirs }), numbered)).toContain(
      "belongs to another vault",
    );
    expect(await refusal(() => changeManifest({ vault, number: 2 }, { deployment: "other" }), numbered)).toContain(
      "another deployment",
    );
    expect(await refusal(() => changeManifest({ vault, number: 2 }, { row: row! }), numbered)).toContain(
      "has no row of its vault",
    );
  });

  it("a manifest that is changed, truncated, continued, or of another number or vault", async () => {
    const second = `manifest 2 of ${vault}`;
    expect(await refusal(change(snapshot(vault, 2)))).toContain(`${second} is not authentic`);
    expect(await refusal(cut(snapshot(vault, 2)))).toContain(`${second} is truncated`);
    for (const text of ["\n", "{}\n", "more"])
      expect(await refusal(extend(snapshot(vault, 2), text))).toContain(`${second} is truncated, or continues`);
    expect(await refusal(replace(snapshot(vault, 2), snapshot(vault)))).toContain(`${second} is that of another snapshot`);
    expect(await refusal(replace(snapshot(vault, 2), snapshot(other)))).toContain(`${second} is that of another snapshot`);
  });

  it.each<[what: string, damage: () => Promise<unknown>, detail: string]>([
    ["a manifest of a later format", () => changeManifest(ofVault(), { format: 2 }), "manifest 2 of VAULT has the format 2"],
    [
      "a format that is no number",
      () => changeManifest(ofVault(), { format: "v2" as never }),
      "manifest 2 of VAULT has the format v2",
    ],
    ["a schema", () => changeManifest(ofVault(), { schema: 99 }), "manifest 2 of VAULT has the schema 99"],
    ["a column of the vault", addColumnToVault, "manifest 2 of VAULT has the column vaults.colour"],
    ["a part of a later format, whatever its lines are", withPart(2, "later"), "has the format 2"],
    ["a table", withPart(1, '{"table":"notes","columns":["id"],"rows":[]}'), "has the table notes"],
    ["a column", withPart(1, '{"table":"items","columns":["id","pinned"],"rows":[]}'), "has the column items.pinned"],
  ])("%s that only a newer release knows", async (_, damage, detail) => {
    const message = await refusal(damage);
    expect(message).toContain(`${detail.replace("VAULT", vault)}, which this release does not know`);
  });

  it.each<[what: string, damage: () => Promise<unknown>, detail: string]>([
    ["format", () => changeManifest(ofRegistry(), { format: 2 }), "manifest 1 of the registry has the format 2"],
    ["schema", () => changeManifest(ofRegistry(), { schema: 99 }), "manifest 1 of the registry has the schema 99"],
  ])("a registry of a later %s, although the bucket has an older one", async (_, damage, detail) => {
    expect(await refusal(damage, { dryRun: true })).toContain(detail);
    expect(await refusal(damage, {})).toContain(detail);
  });

  it("a snapshot that is not the one of the registry", async () => {
    expect(await refusal(() => changeManifest({ vault: other, number: 1 }, { at: 1 }), { vault: other })).toContain(
      "is not the one that the registry names",
    );
  });

  it("a root key that ROOT_KEYS does not have", async () => {
    const others = JSON.stringify({ active: "k9", keys: { k9: btoa("9".repeat(32)) } });
    const reply = await restore({ vault }, { ROOT_KEYS: others });
    expect(reply).toMatchObject({ status: 422, body: { message: expect.stringContaining("root key k1") } });
  });

  it("a vault without a backup: 404", async () => {
    expect(await restore({ vault: crypto.randomUUID() })).toMatchObject({ status: 404 });
    expect(await restore({ vault, snapshot: 9 })).toMatchObject({ status: 404 });
  });

  it("a part that a dry run finds, and the dry run changes nothing", async () => {
    const restores = (await env.DB.prepare("SELECT * FROM restores").all()).results;
    expect(await refusal(cut(part()), { vault, dryRun: true })).toContain(`part ${hash()}`);
    expect(await restore({ vault, dryRun: true })).toMatchObject({
      status: 200,
      body: { existing: "none", snapshot: 2, items: 2 },
    });
    expect((await env.DB.prepare("SELECT * FROM restores").all()).results).toEqual(restores);
  });
});

const deploymentOf = () => env.DB.prepare("SELECT id FROM deployment").first("id");

describe("a vault of another deployment", () => {
  it("is restored under its id beside what this deployment has, and backed up as one of this deployment (21.24)", async () => {
    const there = await freshVault();
    const deployment = await deploymentOf();
    expect((await newestOf(vault)).manifest.deployment).not.toBe(deployment);
    expect(await restore({ vault, dryRun: true })).toMatchObject({ status: 200, body: { existing: "none" } });
    // The answer of the last step may be lost, so the same request is sent again.
    for (const existing of ["none", "older"])
      expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done", existing, findings: [] } });
    expect(await deploymentOf()).toBe(deployment);
    const call = client((await makeToken({ [vault]: "r" })).token);
    expect((await call("GET", `/v1/vaults/${vault}/items`)).body).toHaveLength(2);
    expect(await there.call("GET", there.items)).toMatchObject({ status: 200, body: [] });
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 3 });
    expect((await newestOf(vault)).manifest.deployment).toBe(deployment);
  });

  it("is refused where a vault with other data keys has its id (21.24)", async () => {
    await freshVault(); // A deployment without a vault would become the one of the backup.
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done" } });
    await env.DB.prepare("UPDATE vaults SET keys = ? || substr(keys, 37) WHERE id = ?").bind(crypto.randomUUID(), vault).run();
    const before = await rowsInDatabase(vault);
    expect(await restore({ vault, snapshot: 2, overwrite: true })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(`; this one is ${String(await deploymentOf())}`) },
    });
    expect(await rowsInDatabase(vault)).toEqual(before);
  });
});
