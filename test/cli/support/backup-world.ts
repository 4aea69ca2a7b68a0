import type { TestDatabase } from "../../sdk/support/started-worker.ts";
import { type Answer, ask, need, summary } from "../../upgrade/support/ask.ts";
import { contentOf } from "../../upgrade/support/sample-items.ts";
import { type Sample, type Token, writeSample } from "../../upgrade/support/sample.ts";

/** A deployment with every kind of row that backups have, and what its API answers of it. */

/** A service with an empty database, and its database. `base`: its address, without a slash at the end. */
export interface Deployment {
  readonly base: string;
  readonly adminToken: string;
  readonly database: TestDatabase;
}

export interface World {
  readonly sample: Sample;
  /** Reads, writes and destroys in all vaults. */
  readonly keeper: Token;
}

/** Names of Files that are no names of files, or paths. */
export const HOSTILE_NAMES = ["../../../escape.txt", "..", "a/b\\c", "CON", " ", "null\0byte\n\u001b[31m", "📎".repeat(256)];

/** Bytes of a chunk of a content (docs/format.md): a content of as many ends with an empty chunk. */
const CHUNK_BYTES = 16_384;

/** Writes the sample of a release, and what that lacks. */
export async function plantWorld({ base, adminToken, database }: Deployment): Promise<World> {
  const sample = await writeSample(base, adminToken);
  const [production, personal] = sample.vaults;
  const admin = <Body>(path: string, body: object) =>
    need<Body>(base, { method: "POST", path: `/v1/admin/${path}`, token: adminToken, body });
  const vaults = { [production]: "rwd", [personal]: "rwd" };
  const keeper = await admin<Token>("tokens", { name: "keeper", vaults });
  const write = (path: string, body?: unknown) =>
    need<{ readonly id: string }>(base, { method: "POST", path: `/v1/vaults/${path}`, token: keeper.token, body });
  await write(`${personal}/items/${sample.items.others[0]}/archive`);
  const files = `${personal}/items/${sample.items.others[1]}/files`;
  for (const [index, name] of HOSTILE_NAMES.entries())
    await write(`${files}?name=${encodeURIComponent(name)}`, contentOf(100, index + 1));
  await write(`${files}?name=whole`, contentOf(CHUNK_BYTES));
  await admin(`vaults/${production}/webhooks`, { url: "https://hooks.example.com/production", enabled: false });
  // Such a row is made when entries of writes leave the log after months.
  await database.prepare("INSERT INTO past_writes (action, writes) VALUES ('CREATE', 3)").run();
  // Reads and denials of vaults, of tokens and of the admin, which are stored some seconds later.
  await ask(base, { path: "/v1/vaults", token: keeper.token });
  await ask(base, { path: "/v1/admin/tokens", token: keeper.token });
  await need(base, { path: "/v1/admin/tokens", token: adminToken });
  await untilStored(database, [production, keeper.id, "00000000-0000-0000-0000-000000000000"]);
  return { sample, keeper };
}

const STORED_WITHIN_MS = 120_000;

async function untilStored(database: TestDatabase, logs: readonly string[]): Promise<void> {
  const sql = "SELECT DISTINCT substr(vault_id, 1, 36) AS log FROM log_segments";
  for (const until = Date.now() + STORED_WITHIN_MS; Date.now() < until; await new Promise((done) => setTimeout(done, 100))) {
    const stored = new Set((await database.prepare(sql).all<{ log: string }>()).results.map(({ log }) => log));
    if (logs.every((log) => stored.has(log))) return;
  }
  throw new Error("the reads were not stored in time");
}

/** An Item as the API answers it, but for what depends on the time or the request. */
export type AnsweredItem = Readonly<Record<string, any>> & { readonly id: string; readonly version: number };

export interface AnsweredVault {
  readonly vault: Readonly<Record<string, any>>;
  /** The Items and the deleted ones, by their ids, each with all of its versions. */
  readonly items: ReadonlyMap<string, readonly AnsweredItem[]>;
  readonly deleted: ReadonlyMap<string, AnsweredItem>;
  readonly webhooks: readonly Readonly<Record<string, any>>[];
  /** The size and hash of each content, by Item, File and version; of a deleted Item without a version. */
  readonly contents: ReadonlyMap<string, Answer["body"]>;
}

/** Reads all that the API answers of a vault. */
export async function readVault({ base, adminToken }: Deployment, { keeper }: World, vault: string): Promise<AnsweredVault> {
  const get = <Body>(path: string, token = keeper.token) => need<Body>(base, { path: `/v1/${path}`, token });
  const read = async (path: string) => (await get<Answer["body"]>(path)) ?? summary(new Uint8Array());
  const items = new Map<string, AnsweredItem[]>();
  const deleted = new Map<string, AnsweredItem>();
  const contents = new Map<string, Answer["body"]>();
  const inVault = `vaults/${vault}`;
  for (const { id } of await get<AnsweredItem[]>(`${inVault}/items?archived=true`)) {
    const versions: AnsweredItem[] = [];
    for (const { version } of await get<AnsweredItem[]>(`${inVault}/items/${id}/versions`)) {
      const item = await get<AnsweredItem>(`${inVault}/items/${id}/versions/${version}`);
      versions.push(item);
      for (const { id: file } of item["files"])
        contents.set(`${id}/${file}/${version}`, await read(`${inVault}/items/${id}/files/${file}/content?version=${version}`));
    }
    items.set(id, versions);
  }
  for (const { id } of await get<AnsweredItem[]>(`${inVault}/deleted-items`)) {
    const item = await get<AnsweredItem>(`${inVault}/deleted-items/${id}`);
    deleted.set(id, item);
    for (const { id: file } of item["files"])
      contents.set(`${id}/${file}`, await read(`${inVault}/deleted-items/${id}/files/${file}/content`));
  }
  const webhooks = await get<Record<string, any>[]>(`admin/${inVault}/webhooks`, adminToken);
  return { vault: await get(inVault), items, deleted, webhooks, contents };
}

/** The entries of all logs. */
export async function readLogs({ base, adminToken }: Deployment): Promise<Readonly<Record<string, any>>[]> {
  const entries: Record<string, any>[] = [];
  for (let url: string | undefined = `${base}/v1/admin/activity/export?limit=1000`; url !== undefined;) {
    const response: Response = await fetch(url, { headers: { Authorization: `Bearer ${adminToken}` } });
    entries.push(...((await response.json()) as Record<string, any>[]));
    url = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  }
  return entries;
}
