import { operationId } from "../../../src/model/ids.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { sealActivity } from "../../../src/store/activity/entry-rows.ts";
import { sealHandOvers } from "../../../src/store/activity/segments.ts";
import { openStore } from "../../../src/store/d1/database.ts";
import { seedFiles } from "../seed-files.ts";
import { login, seedItems, seedVersions } from "../seed.ts";
import { times } from "./bodies.ts";

/** The state that the worst requests meet. The tests and the benchmark create it with the same functions. */

/** Sends one request to the Worker. Out: the JSON of the answer. Throws when the request is refused. */
export type Ask = (
  method: string,
  path: string,
  token: string,
  body?: Uint8Array | object | string,
  headers?: Record<string, string>,
) => Promise<any>;

/** How large the state is. The tests use a smaller one than `npm run limits`. */
export interface Sizes {
  /** Items of a large vault. */
  readonly items: number;
  /** Bytes of a large content. */
  readonly content: number;
  /** Vaults in the list of the admin. */
  readonly vaults: number;
  /** Characters of the tags of a kept version. */
  readonly tags: number;
  /** Large Items that one request refers to. */
  readonly references: number;
  /** Entries of the longest of 100 logs. */
  readonly log: number;
}

export interface World {
  readonly env: Env;
  readonly ask: Ask;
  readonly sizes: Sizes;
}

export interface Sent {
  readonly path: string;
  /** Absent: no Authorization header. */
  readonly token?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
  /** A text or bytes as they are, or what is sent as JSON. */
  readonly body?: Uint8Array | object | string | undefined;
}

export interface OwnVault {
  readonly vault: string;
  readonly token: string;
  /** The path of its Items. */
  readonly items: string;
}

export const ADMIN_VAULTS = "/v1/admin/vaults";
export const ADMIN_TOKENS = "/v1/admin/tokens";

/** The state of each world that several requests read. */
const shared = new WeakMap<World, Map<unknown, Promise<unknown>>>();

/** Creates a state once in a world, for requests that only read it. `npm run limits` gives each request a new world. */
export function shareIn<T>(world: World, make: (world: World) => Promise<T>): Promise<T> {
  const states = shared.get(world) ?? new Map<unknown, Promise<unknown>>();
  shared.set(world, states);
  const state = (states.get(make) as Promise<T> | undefined) ?? make(world);
  states.set(make, state);
  return state;
}

/** A vault of its own for one request, so that no request finds what another one has cached. */
export async function ownVault({ env, ask }: World): Promise<OwnVault> {
  const { id: vault } = await ask("POST", ADMIN_VAULTS, env.ADMIN_TOKEN, { name: "worst" });
  const { token } = await ask("POST", ADMIN_TOKENS, env.ADMIN_TOKEN, { name: "worst", vaults: { [vault]: "rwd" } });
  return { vault, token, items: `/v1/vaults/${vault}/items` };
}

/** A vault with so many small Items. */
export async function largeVault(world: World, items = world.sizes.items): Promise<OwnVault> {
  const own = await ownVault(world);
  const seeded = Array.from({ length: items }, (_, index) => login(own.vault, `Item ${index}`));
  await seedItems(world.env, own.vault, seeded);
  return own;
}

/** A vault with one Item that was created from this body. Out: also the path of the Item. */
export async function vaultWithItem(world: World, body: object): Promise<OwnVault & { item: string; path: string }> {
  const own = await ownVault(world);
  const { id: item } = await world.ask("POST", own.items, own.token, body);
  return { ...own, item, path: `${own.items}/${item}` };
}

/** A vault with one Item that has 1,000 empty Files. */
export async function vaultWithFiles(world: World): Promise<Awaited<ReturnType<typeof vaultWithItem>>> {
  const own = await vaultWithItem(world, { title: "Files", category: "DOCUMENT" });
  const files = Array.from({ length: 1_000 }, (_, index) => ({ name: `file ${index}` }));
  await seedFiles(world.env, own.vault, own.item, files);
  return own;
}

/** The same Item at version 2, without the Files: they belong to version 1. */
export async function vaultWithEndedFiles(world: World): Promise<Awaited<ReturnType<typeof vaultWithItem>>> {
  const own = await vaultWithFiles(world);
  await world.ask("PATCH", own.path, own.token, [{ op: "replace", path: "/favorite", value: true }]);
  const { DB } = world.env;
  await DB.batch(
    [
      `INSERT INTO file_versions (vault_id, item_id, id, until, since, generation, size, sealed)
       SELECT vault_id, item_id, id, 2, 0, generation, size, sealed FROM files WHERE vault_id = ?1`,
      "DELETE FROM files WHERE vault_id = ?1",
      "UPDATE vaults SET files = 0, content_version = content_version + 1 WHERE id = ?1",
    ].map((sql) => DB.prepare(sql).bind(own.vault)),
  );
  return own;
}

/** A vault with one Item that keeps 100 earlier versions, each with large tags. */
export async function vaultWithVersions(world: World): Promise<OwnVault & { item: string }> {
  const own = await ownVault(world);
  const tags = times(8, () => "x".repeat(world.sizes.tags / 8));
  const item = { ...login(own.vault, "x".repeat(LIMITS.title), { tags }), version: 101 };
  await seedItems(world.env, own.vault, [{ ...item, version: 101 }]);
  await seedVersions(
    world.env,
    own.vault,
    times(100, (index) => ({ ...item, version: index + 1 })),
  );
  return { ...own, item: item.id };
}

/** A vault with 1,000 deleted Items. */
export async function vaultWithDeleted(world: World): Promise<OwnVault> {
  const own = await largeVault(world, 1_000);
  const { DB } = world.env;
  await DB.batch(
    [
      `INSERT INTO item_versions (vault_id, item_id, version, overview, details)
       SELECT vault_id, id, version, overview, details FROM items WHERE vault_id = ?1`,
      `INSERT INTO deleted_items (vault_id, id, version, deleted_at, deleted_by)
       SELECT vault_id, id, version, 1, '${crypto.randomUUID()}' FROM items WHERE vault_id = ?1`,
      "DELETE FROM items WHERE vault_id = ?1",
      "UPDATE vaults SET deleted = items, items = 0, content_version = content_version + 1 WHERE id = ?1",
    ].map((sql) => DB.prepare(sql).bind(own.vault)),
  );
  return own;
}

/** A vault with one deleted Item that has 1,000 empty Files, or one with a content. */
export async function vaultWithDeletedFiles(
  world: World,
  make: (world: World) => Promise<OwnVault & { item: string; path: string }> = vaultWithFiles,
): Promise<OwnVault & { item: string }> {
  const own = await make(world);
  await world.ask("DELETE", own.path, own.token);
  return own;
}

/** Makes a vault with one Item that has Files of these sizes, each with its content. Returns the id of the last File too. */
export async function vaultWithContents(world: World, sizes: readonly number[]) {
  const own = await vaultWithItem(world, { title: "Contents", category: "DOCUMENT" });
  let file = "";
  for (const size of sizes) {
    const { id } = await world.ask("POST", `${own.path}/files?name=f`, own.token, new Uint8Array(size).fill(7));
    file = id;
  }
  return { ...own, file };
}

/** Creates so many vaults. Out: their ids. */
export async function manyVaults({ env, ask }: World, count: number): Promise<string[]> {
  const vaults: string[] = [];
  for (let made = 0; made < count; made++)
    vaults.push((await ask("POST", ADMIN_VAULTS, env.ADMIN_TOKEN, { name: `vault ${made}` })).id);
  return vaults;
}

/** A token that reads as many vaults as a token may. */
export async function tokenOfManyVaults(world: World): Promise<{ id: string; token: string; vaults: string[] }> {
  const vaults = await manyVaults(world, LIMITS.tokenVaults);
  const scope = Object.fromEntries(vaults.map((vault) => [vault, "r"]));
  const { id, token } = await world.ask("POST", ADMIN_TOKENS, world.env.ADMIN_TOKEN, { name: "many vaults", vaults: scope });
  return { id, token, vaults };
}

const INSERT = `
  INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed)
  SELECT value ->> 'log', value ->> 'id', 'READ', 'SUCCESS', value ->> 'actor', NULL, NULL, value ->> 'root_key_id',
    value ->> 'sealed'
  FROM json_each(?1)`;

/** Inserts entries into the logs: `counts[n]` into log `n`. The newest entries of all logs are mixed. */
export async function fillLogs({ env }: World, logs: readonly string[], counts: readonly number[]): Promise<void> {
  const store = await openStore(env, Date.now());
  if (!store.ok) throw new Error("no store");
  const now = Date.now();
  const origin = { userAgent: "worst", requestIp: "" };
  const entries = logs.flatMap((log, index) =>
    Array.from({ length: counts[index]! }, (_, age) => ({
      id: operationId(now - 1_000 * age - index, crypto.getRandomValues(new Uint8Array(10))),
      log,
      action: "READ" as const,
      result: "SUCCESS" as const,
      actor: log,
      item: null,
      version: null,
      origin,
    })),
  );
  for (let from = 0; from < entries.length; from += 500) {
    const rows = await Promise.all(entries.slice(from, from + 500).map((entry) => sealActivity(store.value, entry)));
    await env.DB.batch([env.DB.prepare(INSERT).bind(JSON.stringify(rows))]);
  }
}

const INSERT_SEGMENTS = `
  INSERT INTO log_segments (vault_id, id, entries, lines)
  SELECT value ->> 0, value ->> 1, 1, value ->> 2 FROM json_each(?1)
  WHERE true ON CONFLICT (vault_id, id) DO UPDATE SET entries = entries + 1, lines = lines || char(10) || excluded.lines`;

/** Segments of a log. */
interface Segments {
  readonly count: number;
  /** The reads of each, which came alone. */
  readonly reads: number;
  readonly items: number;
  /** Milliseconds between two reads of a segment. The next one begins after a minute. */
  readonly spacing: number;
  /** The characters of its key: by turns, of a cell or an id. */
  readonly digits: readonly number[];
}

/** Of each log three segments of some 32 KB, in which the reads are as large as they may be. */
const LARGE_SEGMENTS: Segments = { count: 3, reads: 6, items: LIMITS.references, spacing: 100, digits: [8] };

/** Of each log more segments than a page reads, of one read each. */
const SHORT_SEGMENTS: Segments = { count: 40, reads: 1, items: 1, spacing: 0, digits: [36] };

/** Of each log segments of cells of each size, which are in one another. */
const NESTED_SEGMENTS: Segments = { count: 20, reads: 5, items: 1, spacing: 12_000, digits: [6, 7, 8, 10, 36] };

/** Inserts segments into the logs. */
async function fillSegments({ env }: World, logs: readonly string[], segmentsOfLog: Segments): Promise<void> {
  const store = await openStore(env, Date.now());
  if (!store.ok) throw new Error("no store");
  const { keyring } = store.value;
  const now = Date.now();
  const items = times(segmentsOfLog.items, () => crypto.randomUUID());
  const origin = { userAgent: "x".repeat(256), requestIp: "" };
  const columns = { action: "READ", result: "SUCCESS", item: null, version: null, items, origin } as const;
  for (const [index, log] of logs.entries()) {
    const segments: unknown[] = [];
    for (let age = segmentsOfLog.count; age > 0; age--) {
      const reads = times(segmentsOfLog.reads, (read) => {
        const id = operationId(
          now - 60_000 * age + segmentsOfLog.spacing * read - index,
          crypto.getRandomValues(new Uint8Array(10)),
        );
        return { ...columns, id, log, actor: log };
      });
      const handOvers = (await Promise.all(reads.map((entry) => sealHandOvers(keyring, [entry])))).flat();
      for (const [place, { first, line }] of handOvers.entries()) {
        const digits = segmentsOfLog.digits[place % segmentsOfLog.digits.length];
        segments.push([log, first.slice(0, digits), line]);
      }
    }
    await env.DB.batch([env.DB.prepare(INSERT_SEGMENTS).bind(JSON.stringify(segments))]);
  }
}

interface LogReader {
  readonly id: string;
  readonly token: string;
  readonly vaults: readonly string[];
}

/** A token that reads as many vaults as a token may. Most of their writes are in few logs, the others are short; each has large segments. */
export const tokenOfFullLogs = (world: World): Promise<LogReader> => tokenOfLogs(world, LARGE_SEGMENTS);

export const tokenOfShortSegments = (world: World): Promise<LogReader> => tokenOfLogs(world, SHORT_SEGMENTS);

/** The same with segments of cells that are in one another. */
export const tokenOfNestedSegments = (world: World): Promise<LogReader> => tokenOfLogs(world, NESTED_SEGMENTS);

async function tokenOfLogs(world: World, segments: Segments): Promise<LogReader> {
  const { id, token, vaults } = await tokenOfManyVaults(world);
  await fillLogs(
    world,
    vaults,
    vaults.map((_, index) => Math.max(world.sizes.log / 60, world.sizes.log >> index)),
  );
  await fillSegments(world, vaults, segments);
  // No entry is older than the token, unless it was issued before all of them.
  await world.env.DB.prepare("UPDATE tokens SET created_at = 1 WHERE id = ?1").bind(id).run();
  return { id, token, vaults };
}

const NUMBER = `
  UPDATE activity SET sequence = ranks.rank + 1, at = 0, action = 'UPDATE' FROM (
    SELECT id, row_number() OVER (ORDER BY id) AS rank FROM activity WHERE vault_id = ?1 AND sequence IS NULL) AS ranks
  WHERE vault_id = ?1 AND activity.id = ranks.id AND sequence IS NULL`;

/** A vault with 2,500 events: entries of the log that got numbers. */
export async function vaultWithEvents(world: World): Promise<OwnVault> {
  const own = await ownVault(world);
  await fillLogs(world, [own.vault], [2_500]);
  const { DB } = world.env;
  await DB.batch([
    DB.prepare(NUMBER).bind(own.vault),
    DB.prepare("UPDATE vaults SET content_version = 2500 WHERE id = ?1").bind(own.vault),
  ]);
  return own;
}
