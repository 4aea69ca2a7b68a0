import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { untilLogged } from "../support/activity.ts";
import { backUpAll, rowsInDatabase } from "../support/backup.ts";
import { freshFile, lengthOf, pattern } from "../support/files.ts";
import { loseEverything, objectsIn, restore, restoreAll } from "../support/restores.ts";
import { admin, client, freshVault, LOGIN, makeToken, send } from "../support/service.ts";
import { newReceiver } from "../support/webhooks.ts";

/** The drill: everything but the backup is lost and restored (contract 21.20, 21.26). */

/** Items with Files and versions, an archived and a deleted one, a destroyed one, webhooks and quotas. */
async function fillVault() {
  const { vault, items, path, one, call, token, files } = await freshFile(pattern(40_000));
  await call("PUT", `${one}/content`, { body: pattern(20_000), headers: lengthOf(pattern(20_000)) });
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  const ids: string[] = [];
  for (const title of ["one", "two", "three", "four"])
    ids.push((await call("POST", items, { body: { ...LOGIN, title } })).body.id);
  await call("POST", `${items}/${ids[0]}/archive`);
  await call("DELETE", `${items}/${ids[1]}`);
  await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } });
  await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { quota: { items: 50 } } });
  return { vault, items, path, one, call, token, files, deleted: ids[1]! };
}

type Filled = Awaited<ReturnType<typeof fillVault>>;

/** Every answer about a vault that a client can get. */
async function answersOf({ vault, items, path, one, files, deleted }: Filled, call: Filled["call"]): Promise<unknown[]> {
  const paths = [
    `/v1/vaults/${vault}`,
    items,
    `${items}?archived=true`,
    `${items}?filter=${encodeURIComponent('title eq "Other"')}`,
    path,
    files,
    `${path}/versions`,
    `${path}/versions/1`,
    `${path}/versions/2`,
    `/v1/vaults/${vault}/deleted-items`,
    `/v1/vaults/${vault}/deleted-items/${deleted}`,
    `/v1/vaults/${vault}/events?after=oldest`,
  ];
  const answers = [];
  for (const asked of paths) {
    const { status, text } = await call("GET", asked);
    answers.push([asked, status, text]);
  }
  const content = await call("GET", `${one}/content`);
  return [...answers, content.text];
}

const rowOf = (vault: string) => env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first();
/** Only those of the vault: the files of tests that ran before may have left others. */
const contentsOf = async (vault: string) =>
  new Map([...(await objectsIn(env.FILES))].filter(([key]) => key.startsWith(`${vault}/`)));
const deploymentOf = () => env.DB.prepare("SELECT id FROM deployment").first("id");

describe("the restore of a whole deployment", () => {
  let filled: Filled;
  let before: { rows: unknown; row: unknown; answers: unknown[]; files: ReadonlyMap<string, Uint8Array>; deployment: unknown };
  let revoked: { id: string; token: string };
  let gone: string;

  beforeAll(async () => {
    filled = await fillVault();
    const { vault } = filled;
    revoked = await makeToken({ [vault]: "rwd" }, { name: "revoked" });
    await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
    ({ vault: gone } = await freshVault());
    await admin("DELETE", `/v1/admin/vaults/${gone}`);
    const answers = await answersOf(filled, filled.call);
    await untilLogged();
    before = {
      answers,
      rows: await rowsInDatabase(vault),
      row: await rowOf(vault),
      files: await contentsOf(vault),
      deployment: await deploymentOf(),
    };
    await backUpAll();
    await loseEverything();
    await restoreAll();
  });

  it("brings back every row of a vault, and one entry of its log is new", async () => {
    const { activity, ...rows } = await rowsInDatabase(filled.vault);
    const { activity: earlier, ...others } = before.rows as Awaited<ReturnType<typeof rowsInDatabase>>;
    expect(rows).toEqual(others);
    expect(await rowOf(filled.vault)).toEqual(before.row);
    expect(activity!.filter(({ event }) => event !== "restored")).toEqual(earlier);
    expect(activity!.filter(({ event }) => event === "restored")).toMatchObject([
      { actor: "admin", sequence: null, item_id: null },
    ]);
  });

  it("brings back every content, byte for byte", async () => {
    expect(before.files.size).toBe(2);
    expect(await contentsOf(filled.vault)).toEqual(before.files);
  });

  it("ends every token: those of before are refused, and keep their names", async () => {
    for (const token of [filled.token, revoked.token])
      expect(await client(token)("GET", `/v1/vaults/${filled.vault}`)).toMatchObject({ status: 401 });
    expect((await admin("GET", "/v1/admin/tokens")).body).toEqual([]);
    expect((await admin("GET", `/v1/admin/tokens/${revoked.id}`)).body).toMatchObject({ name: "revoked" });
  });

  it("gives the same answers to a new token, and takes writes", async () => {
    const { token } = await makeToken({ [filled.vault]: "rwd" });
    const call = client(token);
    expect(await answersOf(filled, call)).toEqual(before.answers);
    const content = await send("GET", `${filled.one}/content`, { headers: { Authorization: `Bearer ${token}` } });
    expect(content.status).toBe(200);
    const made = await call("POST", filled.items, { body: { ...LOGIN, title: "after" } });
    expect(made).toMatchObject({ status: 200 });
    expect(await call("POST", `/v1/vaults/${filled.vault}/deleted-items/${filled.deleted}/restore`)).toMatchObject({
      status: 200,
    });
    const reference = `op://${filled.vault}/after/title`;
    expect((await call("POST", "/v1/resolve", { body: { references: [reference] } })).status).toBe(200);
  });

  it("keeps the name of the deployment, so that its backups go on", async () => {
    expect(await deploymentOf()).toBe(before.deployment);
  });

  it("does not issue the id of a deleted vault again", async () => {
    const { results } = await env.DB.prepare("SELECT action FROM activity WHERE vault_id = ? AND action = 'DELETE'")
      .bind(gone)
      .all();
    expect(results).toHaveLength(1);
  });

  it("goes on with its snapshot by the number when a newer backup was made before all vaults were there", async () => {
    const { vault } = filled;
    const { body: first } = await restore({});
    expect(first).toMatchObject({ state: "done", vaults: 0, kept: 1 });
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    await backUpAll();
    const { snapshot } = first;
    expect(await restore({ snapshot, dryRun: true })).toMatchObject({ status: 200, body: { vaults: 1, kept: 0 } });
    expect(await restore({ snapshot })).toMatchObject({ status: 200, body: { state: "done", vaults: 1, items: 4 } });
  });

  it("is refused where the deployment has something, and changes nothing", async () => {
    await backUpAll();
    expect(await restore({})).toMatchObject({ status: 409, body: { message: expect.stringContaining("vaults or tokens") } });
  });
});
