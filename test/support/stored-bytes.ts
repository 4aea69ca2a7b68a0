import { env } from "cloudflare:workers";

/** The bytes that D1 stores: the sum of the lengths of all values in all tables, except tables whose names are excluded. */
export async function storedBytes(...excluded: readonly string[]): Promise<number> {
  const { results: tables } = await env.DB.prepare("PRAGMA table_list").all<{ name: string; schema: string }>();
  const own = tables.filter(({ name }) => !/^(sqlite_|_cf_|d1_migrations$)/.test(name) && !excluded.includes(name));
  let total = 0;
  for (const { name } of own) {
    const { results: columns } = await env.DB.prepare(`PRAGMA table_info(${name})`).all<{ name: string }>();
    const length = columns.map((column) => `coalesce(octet_length("${column.name}"), 0)`).join(" + ");
    total += (await env.DB.prepare(`SELECT total(${length}) AS bytes FROM ${name}`).first<number>("bytes"))!;
  }
  return total;
}
