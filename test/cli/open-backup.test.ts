import { execFileSync } from "node:child_process";
import { createHmac, hash, hkdfSync } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { CATEGORIES } from "../../src/model/item.ts";
import { PURPOSES } from "../../src/model/purposes.ts";
import { backedUpIn, columnsOfKind } from "../../src/store/tables/tables.ts";
import { startWorker } from "../sdk/support/worker.ts";
import { sample } from "../support/runs.ts";
import { need } from "../upgrade/support/ask.ts";
import {
  type AnsweredVault,
  type Deployment,
  HOSTILE_NAMES,
  plantWorld,
  readLogs,
  readVault,
  type World,
} from "./support/backup-world.ts";
import { ends, runHere } from "./support/here.ts";
import {
  expectedOf,
  filesBelow,
  modesBelow,
  openBackup,
  type Opened,
  readJson,
  readLog,
  writtenVault,
} from "./support/opened-backup.ts";

/** tools/open-backup.mjs opens what the service of this checkout backs up, and refuses what was changed since (docs/format.md). */

const REGISTRY = "00000000-0000-0000-0000-000000000000";
const { ADMIN_TOKEN, ROOT_KEYS } = inject("secrets");
const { k1 } = (JSON.parse(ROOT_KEYS) as { keys: { k1: string } }).keys;
const KEYS = { ROOT_KEYS };

let service: Awaited<ReturnType<typeof startWorker>>;
let deployment: Deployment;
let world: World;
/** The folder of the backup, the paths of its objects, and what the program has made of it. */
let folder: string;
let objects: string[];
let opened: Opened;
let answered: Map<string, AnsweredVault>;

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "item-vault-backup-"));

async function backUp(...more: string[]): Promise<string> {
  const to = temporaryFolder();
  const env = { ITEM_VAULT_ADMIN_TOKEN: ADMIN_TOKEN, ITEM_VAULT_HOST: service.url };
  const { stderr } = await runHere(["admin", "backup", "--to", to, ...more], { env });
  if (!/Copied [1-9]/.test(stderr)) throw new Error(stderr);
  return to;
}

beforeAll(async () => {
  service = await startWorker(inject("secrets"));
  deployment = { base: service.url.replace(/\/$/, ""), adminToken: ADMIN_TOKEN, database: service.database };
  world = await plantWorld(deployment);
  folder = await backUp();
  objects = filesBelow(folder);
  opened = await openBackup(folder, [], KEYS);
  answered = new Map();
  for (const vault of world.sample.vaults) answered.set(vault, await readVault(deployment, world, vault));
});
afterAll(() => service.close());

interface TableRows {
  readonly table: string;
  readonly rows: readonly unknown[];
}

/** The tables of the parts of a backup. */
const tablesIn = (vault: string): TableRows[] =>
  objects
    .filter((path) => path.startsWith(`vaults/${vault}/parts/`))
    .flatMap((path) => readFileSync(join(folder, path), "utf8").trimEnd().split("\n").slice(1))
    .map((line) => JSON.parse(line) as TableRows);

const namesIn = (vault: string) => new Set(tablesIn(vault).flatMap(({ table, rows }) => (rows.length > 0 ? [table] : [])));
const named = (where: "vault" | "registry") => new Set<string>(backedUpIn(where).map(({ name }) => name));

describe("the backup of the test", () => {
  it("has a row of every table that backups have, so that a new table has to be opened", () => {
    const [production] = world.sample.vaults;
    expect(namesIn(production)).toEqual(named("vault"));
    expect(namesIn(REGISTRY)).toEqual(named("registry"));
  });

  it("has a field of every type and purpose, an Item of every category, and one that is archived and one that is deleted", () => {
    const items = [...answered.values()].flatMap(({ items: all }) => [...all.values()].flat());
    const fields = items.flatMap((item) => item["fields"] as { type: string; purpose?: string }[]);
    expect(new Set(fields.map(({ type }) => type))).toEqual(new Set(FIELD_TYPE_NAMES));
    expect(new Set(fields.map(({ purpose = "" }) => purpose))).toEqual(new Set(Object.keys(PURPOSES)));
    expect(new Set(items.map((item) => item["category"]))).toEqual(new Set(CATEGORIES));
    expect(items.some((item) => item["state"] === "ARCHIVED")).toBe(true);
    expect([...answered.values()].some(({ deleted }) => deleted.size > 0)).toBe(true);
  });
});

describe("the program that opens backups", () => {
  it("writes every Item, version, deleted Item, File and webhook with every value that the API answers", () => {
    expect([opened.code, opened.stdout]).toEqual([0, ""]);
    for (const [vault, answer] of answered) expect(writtenVault(opened.output, vault)).toEqual(expectedOf(answer));
    expect(readJson(opened.output, "report.json")).toMatchObject({ vaults: 2, findings: [] });
  });

  it("writes the tokens that Items and logs name, and the logs", async () => {
    const { tokens, ended_tokens: ended, past_writes: past, root_keys: keys } = readJson(opened.output, "registry.json");
    const names = Object.fromEntries([...tokens, ...ended].map(({ id, name }) => [id, name]));
    const { editor, revoked } = world.sample.tokens;
    expect(names).toMatchObject({ [world.keeper.id]: "keeper", [editor.id]: "editor – ä", [revoked.id]: "revoked" });
    expect([past, keys]).toMatchObject([[{ action: "CREATE", writes: 3 }], [{ id: "k1" }]]);
    const logs = [opened.output, ...world.sample.vaults.map((vault) => join(opened.output, "vaults", vault))].flatMap((path) =>
      readLog(path),
    );
    // One request has an entry in several logs.
    const written = new Map(logs.map((entry) => [`${entry["log"]} ${entry["id"]}`, entry]));
    const exported = await readLogs(deployment);
    const same = new Map(
      exported
        .map((entry) => [`${entry["log"] === "admin" ? REGISTRY : entry["log"]} ${entry["requestId"]}`, entry] as const)
        .filter(([key]) => written.has(key)),
    );
    expect(same.size).toBe(written.size);
    for (const [key, { action, result, actor }] of same)
      expect(written.get(key)).toMatchObject({ action, result, userAgent: actor.userAgent, requestIp: actor.requestIp });
  });

  it("writes files and folders that their owner alone can read, and nothing outside of its folder", () => {
    expect(modesBelow(opened.output)).toEqual({ files: new Set(["600"]), folders: new Set(["700"]) });
    expect(filesBelow(dirname(opened.output)).every((path) => path.startsWith("output/"))).toBe(true);
    const names = filesBelow(opened.output).filter((path) => path.includes("/files/"));
    expect(names.length).toBeGreaterThan(HOSTILE_NAMES.length);
    for (const name of names) expect(name).toMatch(/^[^\p{C}\\]+$/u);
  });

  it("reads ROOT_KEYS from a file too: the value alone, or lines of variables", async () => {
    const file = join(temporaryFolder(), "keys");
    for (const text of [ROOT_KEYS, k1, `ADMIN_TOKEN=x\nROOT_KEYS='${ROOT_KEYS}'\n`]) {
      writeFileSync(file, text);
      expect((await openBackup(folder, ["--root-keys", file], {})).code).toBe(0);
    }
  });

  it("writes one vault with --vault", async () => {
    const [production] = world.sample.vaults;
    const { code, output } = await openBackup(folder, ["--vault", production], KEYS);
    expect(code).toBe(0);
    expect(writtenVault(output, production)).toEqual(expectedOf(answered.get(production)!));
    expect(readJson(output, "report.json")).toMatchObject({ snapshots: [{ vault: production, number: 1 }], vaults: 1 });
  });
});

/** What no message may have: the root key, and every text that a user has typed. */
const secrets = (): string[] => {
  const texts: string[] = [k1, ADMIN_TOKEN];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) collect(one);
  };
  for (const { vault, items } of answered.values()) {
    collect([vault["name"], vault["description"]]);
    for (const version of [...items.values()].flat())
      collect([version["title"], version["fields"], version["tags"], version["urls"]]);
  }
  return texts.filter((text) => text.length > 5 && !/^[a-z_]+$/i.test(text));
};

const expectNoSecret = ({ stderr, stdout }: Opened): void => {
  for (const text of secrets()) expect(stderr + stdout).not.toContain(text);
};

const expectRefused = (one: Opened, words: string | RegExp): void => {
  expect(one).toMatchObject(ends(1, words));
  expect(existsSync(one.output)).toBe(false);
  expect(filesBelow(dirname(one.output))).toEqual([]);
  expectNoSecret(one);
};

/** How an object is damaged. In: its bytes, and a number that chooses one of them. Out: `undefined` when it is deleted. */
type Damage = (bytes: Buffer, chosen: number) => Buffer | undefined;

const DAMAGES: Readonly<Record<string, Damage>> = {
  "with a byte flipped at its beginning, in its middle or at its end": (bytes, chosen) =>
    flip(bytes, [0, Math.floor(bytes.length / 2), bytes.length - 1][chosen % 3]!),
  "without its last byte": (bytes) => bytes.subarray(0, -1),
  missing: () => undefined,
};

function flip(bytes: Buffer, index: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[index]! ^= 1;
  return flipped;
}

/** A copy of the backup, in which an object is damaged. */
function damaged(path: string, damage: Damage, chosen = 0): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  const bytes = damage(readFileSync(join(folder, path)), chosen);
  if (bytes) writeFileSync(join(copy, path), bytes);
  else rmSync(join(copy, path));
  return copy;
}

/** What may be in the place of a file. In: its path. */
const NO_FILES: Readonly<Record<string, (path: string) => void>> = {
  "a folder": (path) => mkdirSync(path),
  "a link to itself": (path) => symlinkSync(path, path),
  "a link to a device without an end": (path) => symlinkSync("/dev/zero", path),
  "a pipe that nobody writes to": (path) => void execFileSync("mkfifo", [path]),
};

/** A copy of the backup, in which something else is in the place of a file. */
function without(path: string, put: (path: string) => void): string {
  const copy = damaged(path, () => undefined);
  put(join(copy, path));
  return copy;
}

const isContent = (path: string): boolean => path.startsWith("contents/");

const AT_ONCE = 4;

/** Opens copies of the backup, in each of which one of some objects is damaged. */
async function openEach(paths: readonly string[], damage: Damage): Promise<Opened[]> {
  const all: Opened[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE).map((path, index) => openBackup(damaged(path, damage, at + index), [], KEYS));
    all.push(...(await Promise.all(some)));
  }
  return all;
}

describe("a backup of which a manifest or a part is damaged", () => {
  it.each(Object.entries(DAMAGES))("is refused in words that name it, and nothing is written: %s", async (_, damage) => {
    const paths = sample(
      objects.filter((one) => !isContent(one)),
      3,
    );
    const refused = await openEach(paths, damage);
    for (const [index, path] of paths.entries()) {
      const [, vault = "", name = ""] = /^vaults\/([^/]+)\/(?:parts\/)?(.*)$/.exec(path)!;
      const what = name.endsWith(".manifest") ? "manifest 1 of" : `part ${name} of`;
      const whose = vault === REGISTRY ? "the registry" : `vault ${vault}`;
      const isNone = damage === DAMAGES["missing"] && path === `vaults/${REGISTRY}/00000001.manifest`;
      expectRefused(refused[index]!, isNone ? "no backup of everything" : `${what} ${whose}`);
    }
  });

  it("is written with --leave-out but for that vault, which is named", async () => {
    const [production, personal] = world.sample.vaults;
    const path = objects.find((one) => one.startsWith(`vaults/${personal}/parts/`))!;
    const one = await openBackup(
      damaged(path, () => undefined),
      ["--leave-out"],
      KEYS,
    );
    expect(one).toMatchObject(ends(7, `of vault ${personal} is missing`));
    expect(writtenVault(one.output, production)).toEqual(expectedOf(answered.get(production)!));
    expect(existsSync(join(one.output, "vaults", personal))).toBe(false);
    expectNoSecret(one);
  });
});

describe("what is no file", () => {
  it.each(Object.entries(NO_FILES))("is refused as a part, and costs only itself as a content: %s", async (_, put) => {
    const part = objects.find((one) => one.includes("/parts/"))!;
    expectRefused(await openBackup(without(part, put), [], KEYS), /part .* cannot be read/);
    const content = objects.find(isContent)!;
    const one = await openBackup(without(content, put), [], KEYS);
    expect(one).toMatchObject(ends(7, "cannot be read"));
    expect(readJson(one.output, "report.json").findings).toHaveLength(1);
  });
});

it("a key that was typed in the place of a path is not repeated", async () => {
  const typed = JSON.stringify({ active: "k1", keys: { k1: "A".repeat(300) } });
  const one = await openBackup(folder, ["--root-keys", typed], KEYS);
  expect([one.code, one.stderr.includes("AAAA")]).toEqual([1, false]);
});

describe("a content that is damaged or missing", () => {
  it.each(Object.entries(DAMAGES))("costs only itself, and is named: %s", async (_, damage) => {
    const paths = sample(objects.filter(isContent), 3);
    const written = await openEach(paths, damage);
    for (const [index, path] of paths.entries()) {
      const one = written[index]!;
      expect(one).toMatchObject(ends(7, path));
      expect(readJson(one.output, "report.json").findings).toHaveLength(1);
      const lost = path.split("/").at(-1)!;
      const others = (output: string) => filesBelow(output).filter((file) => !file.includes(`/${lost}`));
      expect(others(one.output)).toEqual(others(opened.output));
      expect(filesBelow(one.output).length).toBe(filesBelow(opened.output).length - 1);
      expectNoSecret(one);
    }
  });
});

/** Writes a manifest again under the root key, as whoever has that could. */
function signedAgain(copy: string, vault: string, change: (manifest: any) => object): string {
  const path = join(copy, "vaults", vault, "00000001.manifest");
  const [line = ""] = readFileSync(path, "utf8").split("\n");
  const text = JSON.stringify(change(JSON.parse(line)));
  const key = hkdfSync("sha256", Buffer.from(k1, "base64"), "", "item-vault/v1/backup-manifest", 32);
  writeFileSync(path, `${text}\nk1 ${createHmac("sha256", Buffer.from(key)).update(text).digest("hex")}\n`);
  return copy;
}

const copyOf = (): string => damaged(objects[0]!, (bytes) => bytes);
const keysOf = (keys: object) => ({ ROOT_KEYS: JSON.stringify({ active: Object.keys(keys)[0], keys }) });

describe("a whole backup is refused, and nothing is written", () => {
  it("under another root key of the same id", async () => {
    const one = await openBackup(folder, [], keysOf({ k1: Buffer.alloc(32, 7).toString("base64") }));
    expectRefused(one, "is not authentic: it was changed, or the root key k1 of ROOT_KEYS is not the one");
  });

  it("without its root key", async () => {
    const one = await openBackup(folder, [], keysOf({ k2: k1 }));
    expectRefused(one, "needs the root key k1, which ROOT_KEYS does not have");
  });

  it("of a later format", async () => {
    for (const vault of [REGISTRY, world.sample.vaults[0]]) {
      const copy = signedAgain(copyOf(), vault, (manifest) => ({ ...manifest, format: 2 }));
      expectRefused(await openBackup(copy, [], KEYS), "has format 2, and this program reads up to format 1");
    }
  });

  it("with a part of a later format, whatever its lines are", async () => {
    const copy = copyOf();
    const text = Buffer.from('{"format":2}\nlater\n');
    const ref = { sha256: hash("sha256", text), bytes: text.length, rows: 0 };
    writeFileSync(join(copy, "vaults", REGISTRY, "parts", ref.sha256), text);
    signedAgain(copy, REGISTRY, (manifest) => ({ ...manifest, parts: [...manifest.parts, ref] }));
    expectRefused(await openBackup(copy, [], KEYS), "has format 2, and this program reads up to format 1");
  });

  it("with an authentic manifest of a vault that the registry does not name", async () => {
    const copy = signedAgain(copyOf(), world.sample.vaults[0], (manifest) => ({ ...manifest, at: 1 }));
    expectRefused(await openBackup(copy, [], KEYS), "is not the one that the registry names");
  });

  it("with the manifest of one vault in the place of another", async () => {
    const copy = copyOf();
    const [one, other] = world.sample.vaults.map((vault) => join(copy, "vaults", vault, "00000001.manifest"));
    cpSync(one!, other!);
    expectRefused(await openBackup(copy, [], KEYS), "is that of another snapshot");
  });

  it.each([
    ["without ROOT_KEYS", {}, "ROOT_KEYS is missing"],
    [
      "with a malformed ROOT_KEYS",
      { ROOT_KEYS: `{"keys":{"k1":"${Buffer.alloc(31, 7).toString("base64")}"}}` },
      "ROOT_KEYS is malformed",
    ],
  ])("%s", async (_, env, words) => {
    const one = await openBackup(folder, [], env);
    expect(one).toMatchObject(ends(2, words));
    expect(one.stderr).not.toContain("BwcH");
    expect(existsSync(one.output)).toBe(false);
  });

  it("into a folder that exists, as a mount or behind a link does, which stays as it is", async () => {
    const output = temporaryFolder();
    writeFileSync(join(output, "mine"), "mine");
    const one = await openBackup(folder, [], KEYS, output);
    expect(one).toMatchObject(ends(2, "exists already"));
    expect(filesBelow(output)).toEqual(["mine"]);
  });
});

it("a column of a vault that only a newer release knows is named, and the rest is written", async () => {
  const [vault] = world.sample.vaults;
  const copy = signedAgain(copyOf(), vault, (manifest) => ({ ...manifest, row: { ...manifest.row, colour: "red" } }));
  const sha256 = hash("sha256", readFileSync(join(copy, "vaults", vault, "00000001.manifest")));
  signedAgain(copy, REGISTRY, (manifest) => ({
    ...manifest,
    snapshots: manifest.snapshots.map((one: any) => (one.vault === vault ? { ...one, sha256 } : one)),
  }));
  const one = await openBackup(copy, [], KEYS);
  expect(one).toMatchObject(ends(7, "table vaults: columns that this program does not know: colour"));
  expect(existsSync(join(one.output, "vaults", vault, "vault.json"))).toBe(true);
});

it.each([
  ["of a later format", (manifest: any) => ({ ...manifest, number: 2, format: 2 }), "k1"],
  ["that needs another root key", (manifest: any) => ({ ...manifest, number: 2 }), undefined],
] as const)(
  "the newest backup %s is refused, and the message tells how to open an older one, which opens",
  async (_, change, key) => {
    const copy = copyOf();
    const path = (number: number) => join(copy, "vaults", REGISTRY, `0000000${number}.manifest`);
    const first = readFileSync(path(1));
    signedAgain(copy, REGISTRY, change);
    const second = readFileSync(path(1), "utf8");
    writeFileSync(path(2), key === undefined ? second.replace("\nk1 ", "\nk9 ") : second);
    writeFileSync(path(1), first);
    expectRefused(await openBackup(copy, [], KEYS), "--snapshot N opens an older one, for example --snapshot 1");
    expect((await openBackup(copy, ["--snapshot", "1"], KEYS)).code).toBe(0);
  },
);

describe("a row that did not open when the backup read it", () => {
  it("costs only itself, and is named, and an older snapshot has it: one of every column with a sealed text", async () => {
    const [production] = world.sample.vaults;
    const damages = backedUpIn("vault").flatMap((table) => columnsOfKind(table, "sealed").map((column) => ({ table, column })));
    expect(damages.length).toBeGreaterThan(5);
    // Nothing of it is sealed: what is damaged shows where it has another type.
    damages.push({ table: backedUpIn("vault").find(({ name }) => name === "deleted_items")!, column: "deleted_by" });
    for (const { table, column } of damages) {
      const owner = Object.values(table.owner!)[0]!;
      const changed = `substr(${column}, 1, 40) || iif(substr(${column}, 41, 1) = 'A', 'B', 'A') || substr(${column}, 42)`;
      const key = table.key.filter((name) => name !== owner).join(" || ");
      const first = `(SELECT min(${key}) FROM ${table.name} WHERE ${owner} = '${production}')`;
      await service.database
        .prepare(`UPDATE ${table.name} SET ${column} = ${changed} WHERE ${owner} = '${production}' AND ${key} = ${first}`)
        .run();
    }
    const body = { name: "With a name that does not open" };
    const { id: unnamed } = await need<{ id: string }>(deployment.base, {
      method: "POST",
      path: "/v1/admin/vaults",
      token: ADMIN_TOKEN,
      body,
    });
    await service.database.prepare(`UPDATE vaults SET name = description WHERE id = '${unnamed}'`).run();
    const both = await backUp("--full");
    const one = await openBackup(both, [], KEYS);
    expect(one.code).toBe(7);
    const { findings } = readJson(one.output, "report.json") as { findings: Readonly<Record<string, string>>[] };
    for (const { table, column } of damages) {
      const detail = expect.stringContaining(column);
      expect(findings).toContainEqual(expect.objectContaining({ vault: production, table: table.name, detail }));
    }
    expect(findings).toContainEqual({ vault: unnamed, table: "vaults", detail: "name cannot be decrypted" });
    const lost = new Set(findings.flatMap(({ item, id }) => [item, id]));
    for (const vault of world.sample.vaults) {
      const [written, expected] = [writtenVault(one.output, vault), expectedOf(answered.get(vault)!)];
      expect([...written.items.keys()].toSorted()).toEqual([...expected.items.keys()].toSorted());
      const others = (items: typeof written.items) => new Map([...items].filter(([id]) => !lost.has(id)));
      expect(others(written.items)).toEqual(others(expected.items));
    }
    expectNoSecret(one);
    const before = await openBackup(both, ["--snapshot", "1"], KEYS);
    expect([before.code, readJson(before.output, "report.json").findings]).toEqual([0, []]);
    for (const [vault, answer] of answered) expect(writtenVault(before.output, vault)).toEqual(expectedOf(answer));
  });
});

describe("the example of a backup in vectors/", () => {
  it("opens to what it opened to when it was made", async () => {
    const {
      rootKeys,
      objects: texts,
      opens,
    } = readJson("vectors", "backup.json") as {
      readonly rootKeys: string;
      readonly objects: Readonly<Record<string, string>>;
      readonly opens: Readonly<Record<string, unknown>>;
    };
    const example = temporaryFolder();
    for (const [key, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(example, key)), { recursive: true });
      writeFileSync(join(example, key), text, isContent(key) ? "base64" : "utf8");
    }
    const { code, output } = await openBackup(example, [], { ROOT_KEYS: rootKeys });
    expect(code).toBe(0);
    expect(filesBelow(output)).toEqual(Object.keys(opens).toSorted());
    const valueOf = (path: string): unknown => {
      if (path.endsWith(".json")) return readJson(output, path);
      return readFileSync(join(output, path), path.endsWith(".jsonl") ? "utf8" : "base64");
    };
    for (const [path, value] of Object.entries(opens)) expect(valueOf(path)).toEqual(value);
  });
});
