import { sealFile } from "../../src/store/items/files.ts";
import { keysIn } from "./seed.ts";

/** Files written past the coordinator: what an earlier version accepted, or a thousand of them at once. */

export interface SeededFile {
  readonly name: string;
  readonly section?: string;
}

const INSERT = `
  INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since)
  SELECT ?1, ?2, value ->> 'id', value ->> 'generation', 0, value ->> 'sealed', 0 FROM json_each(?3)`;
/** Files per statement: a parameter of D1 has at most 2 MB. */
const SLICE = 1_000;
const COUNT = "UPDATE vaults SET files = files + ?2, content_version = content_version + 1 WHERE id = ?1";

/** Inserts the rows of empty Files of an Item, without contents, and counts them. Out: their ids. */
export async function seedFiles(env: Env, vault: string, item: string, files: readonly SeededFile[]): Promise<string[]> {
  const { DB } = env;
  const keys = await keysIn(env, vault);
  const ids = files.map(() => crypto.randomUUID());
  const sealing = files.map(async (file, index) => {
    const [id, generation] = [ids[index]!, crypto.randomUUID()];
    const key = crypto.getRandomValues(new Uint8Array(32)).toBase64();
    return { id, generation, sealed: await sealFile(keys, vault, item, { ...file, id, generation, key, size: 0 }) };
  });
  const rows = await Promise.all(sealing);
  const slices = Array.from({ length: Math.ceil(rows.length / SLICE) }, (_, n) => rows.slice(n * SLICE, (n + 1) * SLICE));
  const inserts = slices.map((slice) => DB.prepare(INSERT).bind(vault, item, JSON.stringify(slice)));
  await DB.batch([...inserts, DB.prepare(COUNT).bind(vault, files.length)]);
  return ids;
}
