import { env } from "cloudflare:workers";

/** Copies D1 and the buckets, and puts them back, so that many damages are planted in one vault. */

type Row = Readonly<Record<string, unknown>>;

const TABLES = `
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\'
    AND name <> 'd1_migrations' ORDER BY name = 'root_key_uses'`; // triggers change it, so it comes last

async function readBucket(bucket: R2Bucket): Promise<Map<string, Uint8Array>> {
  const { objects } = await bucket.list();
  const read = async ({ key }: R2Object) => [key, new Uint8Array(await (await bucket.get(key))!.arrayBuffer())] as const;
  return new Map(await Promise.all(objects.map(read)));
}

async function writeBucket(bucket: R2Bucket, before: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const now = await readBucket(bucket);
  const isChanged = ([key, bytes]: readonly [string, Uint8Array]) => String(now.get(key)) !== String(bytes);
  await Promise.all([...now.keys()].filter((key) => !before.has(key)).map((key) => bucket.delete(key)));
  await Promise.all([...before].filter(isChanged).map(([key, bytes]) => bucket.put(key, bytes)));
}

/** Out: a function that puts back what is stored now. */
export async function copyStorage(): Promise<() => Promise<void>> {
  const names = (await env.DB.prepare(TABLES).all<{ name: string }>()).results.map(({ name }) => name);
  const read = await env.DB.batch<Row>(names.map((name) => env.DB.prepare(`SELECT * FROM ${name}`)));
  const rows = names.map((name, index) => [name, read[index]!.results] as const);
  const [files, backups] = [await readBucket(env.FILES), await readBucket(env.BACKUPS)];
  const insert = (name: string, row: Row) =>
    env.DB.prepare(
      `INSERT INTO ${name} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => "?")
        .join()})`,
    ).bind(...Object.values(row));
  return async () => {
    const writes = rows.flatMap(([name, all]) =>
      [env.DB.prepare(`DELETE FROM ${name}`)].concat(all.map((row) => insert(name, row))),
    );
    await env.DB.batch(writes);
    await writeBucket(env.FILES, files);
    await writeBucket(env.BACKUPS, backups);
  };
}
