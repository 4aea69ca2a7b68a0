import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { ALL_TABLES, type NamedTable } from "../../src/store/tables/tables.ts";
import { LOGIN, type Reply } from "../support/service.ts";
import { copyStorage } from "../verify/support/restore.ts";
import type { Planted } from "../verify/support/vault.ts";
import { exchangeColumn, isPlain } from "./support/exchange.ts";
import { type Answer, answerOf, listProbes, type Probe } from "./support/probes.ts";
import type { Row } from "./support/rows.ts";
import { plantWorld, type World } from "./support/world.ts";

/**
 * Whoever writes to D1 exchanges a plaintext column of two rows of a table of vaults that has sealed texts. A column only finds a row: no reader
 * serves the content of the other row as what it was asked for. exchanged-columns.test.ts does the same with everything that authenticates.
 */

let world: World;
let probes: readonly Probe[];
let before: ReadonlyMap<string, Answer>;
let restore: () => Promise<void>;

const ask = async () => new Map(await Promise.all(probes.map(async ({ name, ask: one }) => [name, await one()] as const)));

const reader = (name: string, one: () => Promise<Reply>): Probe => ({
  name,
  about: [],
  ask: async () => answerOf(await one()),
});

/** The readers of contents and of repeated requests. */
const readersOf = ({ call, items, item, file, replaced }: Planted): Probe[] => {
  const repeat = (title: string) => {
    const body = { ...LOGIN, title, fields: [{ id: "username", purpose: "USERNAME", value: "robots" }] };
    return call("POST", items, { body, headers: { "Idempotency-Key": title } });
  };
  return [
    reader(`content ${file}`, () => call("GET", `${items}/${item}/files/${file}/content`)),
    reader(`content ${replaced}`, () => call("GET", `${items}/${item}/files/${replaced}/content`)),
    reader(`the first request to ${items}`, () => repeat("First")),
    reader(`the second request to ${items}`, () => repeat("Second")),
  ];
};

beforeAll(async () => {
  world = await plantWorld();
  probes = [...listProbes(world), ...world.vaults.flatMap(readersOf)].filter(({ name }) => !name.startsWith("restore of"));
  before = await ask();
  restore = await copyStorage();
});

/** Columns that are served as they are: docs/security.md says that whoever writes D1 can change them. */
const SERVED = new Set(
  ["vault_id", "action", "result", "actor", "item_id", "resource", "event"].map((column) => `activity.${column}`),
);

/** Columns whose values are equal in all rows. */
const NOT_EXCHANGED = new Set(["vaults.root_key_id", "activity.root_key_id"]);

const CASES = ALL_TABLES.filter(({ associatedData, owner }) => associatedData && owner).flatMap((table) =>
  Object.keys(table.columns)
    .filter((column) => isPlain(table, column) && !/^(time|number)/.test(table.columns[column]!))
    .filter((column) => !SERVED.has(`${table.name}.${column}`))
    .map((column) => [`${table.name}.${column}`, table, column] as const),
);

/** Returns two pairs of rows that differ in a column: of one vault, and of two. */
async function pairsOf({ name, key, owner }: NamedTable, column: string): Promise<(readonly [Row, Row])[]> {
  const { results } = await env.DB.prepare(`SELECT * FROM ${name} ORDER BY ${key.join()}`).all<Row>();
  const [of = ""] = Object.values(owner!);
  const planted = results.filter((row) => world.vaults.some(({ vault }) => vault === row[of]));
  const pairs = planted.flatMap((one, place) =>
    planted.slice(place + 1).flatMap((other) => (one[column] === other[column] ? [] : [[one, other] as const])),
  );
  return [true, false].flatMap((isSame) => {
    const pair = pairs.find(([one, other]) => (one[of] === other[of]) === isSame);
    return pair ? [pair] : [];
  });
}

/** Returns an entry without its Files, and without what tells which version is the current one. */
const withoutFiles = ({ files: _files, brokenFiles: _broken, current: _current, ...rest }: Record<string, unknown>): string =>
  JSON.stringify(rest);

/** Whether an entry shows nothing but what it showed before. It may be refused, and lack Files. */
function isPartOf(text: string, was: string | undefined): boolean {
  if (text === was || text.includes('"broken"') || /^\{"reference":"[^"]*","status":[45]/.test(text)) return true;
  if (was === undefined) return false;
  const entry = JSON.parse(text);
  const files: string[] = (entry.files ?? []).map((file: object) => JSON.stringify(file));
  return withoutFiles(entry) === withoutFiles(JSON.parse(was)) && files.every((file) => was.includes(file));
}

/** Whether no reader has shown an Item before: a repeated request whose record is not found makes a new one. */
const isNewItem = (text: string): boolean => {
  const { id } = JSON.parse(text);
  return ![...before.values()].some(({ entries }) => [...entries.values()].some((entry) => entry.includes(id)));
};

/** Returns what a reader serves in place of what it served before, in words. */
async function faultsNow(): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, { status, kind, entries }] of await ask()) {
    if (kind === "internal") faults.push(`${name}: internal`);
    const was = before.get(name)!.entries;
    for (const [id, text] of status === 200 ? entries : []) {
      const isNew = name.includes("activity") ? was.get(id) === undefined : name.includes("request to") && isNewItem(text);
      if (!isNew && !isPartOf(text, was.get(id)))
        faults.push(`${name}: ${id}: ${was.get(id)?.slice(0, 300)} → ${text.slice(0, 300)}`);
    }
  }
  return faults;
}

it.each(CASES)("two rows that exchange %s are not served as each other", async (_, table, column) => {
  const faults: string[] = [];
  let exchanges = 0;
  for (const pair of await pairsOf(table, column)) {
    await exchangeColumn(table, column, pair);
    exchanges++;
    faults.push(...(await faultsNow()));
    await restore();
  }
  expect([faults, exchanges > 0]).toEqual([[], !NOT_EXCHANGED.has(`${table.name}.${column}`)]);
});
