import { env } from "cloudflare:workers";

/** Copies D1 and the buckets, and puts them back, so that many damages are planted in one vault. */

type Row = Readonly<Record<string, unknown>>;

const TABLES = `
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\'
    AND name <> 'd1_migrations' ORDER BY name = 'root_key_uses'`; // triggers change it, so it comes last

/** What a test may drop, add or change: the indexes and triggers, with the statement that creates each. */
const OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL";

interface Copied {
  readonly etag: string;
  readonly bytes: Uint8Array;
}

async function readBucket(bucket: R2Bucket): Promise<Map<string, Copied>> {
  const { objects } = await bucket.list();
  const read = async ({ key, etag }: R2Object) =>
    [key, { etag, bytes: new Uint8Array(await (await bucket.get(key))!.arrayBuffer()) }] as const;
  return new Map(await Promise.all(objects.map(read)));
}

async function writeBucket(bucket: R2Bucket, before: ReadonlyMap<string, Copied>): Promise<void> {
  const { objects } = await bucket.list();
  const now = new Map(objects.map(({ key, etag }) => [key, etag]));
  const changed = [...before].filter(([key, { etag }]) => now.get(key) !== etag);
  await Promise.all([...now.keys()].filter((key) => !before.has(key)).map((key) => bucket.delete(key)));
  await Promise.all(changed.map(([key, { bytes }]) => bucket.put(key, bytes)));
}

/** Inserts the rows of a table, by one statement: each takes time. */
function insert(table: string, rows: readonly Row[]): D1PreparedStatement[] {
  if (rows.length === 0) return [];
  const columns = Object.keys(rows[0]!);
  const values = columns.map((column) => `value ->> '${column}'`);
  const sql = `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM json_each(?)`;
  return [env.DB.prepare(sql).bind(JSON.stringify(rows))];
}

const loadObjects = async () => (await env.DB.prepare(OBJECTS).all<{ type: string; name: string; sql: string }>()).results;

/** Out: a function that puts back what is stored now. */
export async function copyStorage(): Promise<() => Promise<void>> {
  const names = (await env.DB.prepare(TABLES).all<{ name: string }>()).results.map(({ name }) => name);
  const read = await env.DB.batch<Row>(names.map((name) => env.DB.prepare(`SELECT * FROM ${name}`)));
  const objects = await loadObjects();
  const rows = names.map((name, index) => [name, read[index]!.results] as const);
  const [files, backups] = [await readBucket(env.FILES), await readBucket(env.BACKUPS)];
  return async () => {
    const [present, texts] = [await loadObjects(), new Set(objects.map(({ sql }) => sql))];
    for (const { type, name, sql } of present) if (!texts.has(sql)) await env.DB.prepare(`DROP ${type} ${name}`).run();
    const left = new Set(present.map(({ sql }) => sql));
    for (const { sql } of objects) if (!left.has(sql)) await env.DB.prepare(sql).run();
    await env.DB.batch(rows.flatMap(([name, all]) => [env.DB.prepare(`DELETE FROM ${name}`)].concat(insert(name, all))));
    await writeBucket(env.FILES, files);
    await writeBucket(env.BACKUPS, backups);
  };
}
