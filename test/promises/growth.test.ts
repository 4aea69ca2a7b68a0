import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, freshVault, LOGIN } from "../support/service.ts";

/** How much a write stores in D1: at most four times its body and 4 KiB, whatever the size of the Item that it changes. */

/** The bytes of all values of all tables. */
async function storedBytes(): Promise<number> {
  const sql = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
               WHERE t.type = 'table' AND t.name NOT LIKE '\\_%' ESCAPE '\\' AND t.name NOT LIKE 'sqlite%'`;
  const { results } = await env.DB.prepare(sql).all<{ table: string; column: string }>();
  const tables = Map.groupBy(results, ({ table }) => table);
  const sums = [...tables].map(([table, columns]) => {
    const bytes = columns.map(({ column }) => `ifnull(octet_length("${column}"), 0)`).join(" + ");
    return `SELECT ifnull(sum(${bytes}), 0) FROM "${table}"`;
  });
  return (await env.DB.prepare(`SELECT (${sums.join(") + (")}) AS bytes`).first<number>("bytes"))!;
}

const BODY = '[{"op":"replace","path":"/favorite","value":true}]';

let call: Client;
let path: string;

beforeAll(async () => {
  const made = await freshVault();
  ({ call } = made);
  const value = "x".repeat(60_000);
  const fields = Array.from({ length: 6 }, (_, n) => ({ id: `f${n}`, value }));
  path = `${made.items}/${(await call("POST", made.items, { body: { ...LOGIN, fields } })).body.id}`;
});

describe("a PATCH of 50 bytes on a large Item", () => {
  it.each([
    ["100 with an Idempotency-Key", 100, (n: number): Record<string, string> => ({ "Idempotency-Key": `key-${n}` })],
    ["10 without a key", 10, (): Record<string, string> => ({})],
  ])("stores at most 4 × its body and 4 KiB: %s", async (_, writes, headersFor) => {
    const before = await storedBytes();
    for (let n = 0; n < writes; n++) {
      expect((await call("PATCH", path, { body: BODY, headers: headersFor(n) })).status).toBe(200);
    }
    const each = ((await storedBytes()) - before) / writes;
    console.log(`a PATCH of ${BODY.length} bytes stores ${each} bytes`);
    expect(before).toBeGreaterThan(400_000);
    expect(each).toBeLessThanOrEqual(4 * BODY.length + 4096);
  });
});
