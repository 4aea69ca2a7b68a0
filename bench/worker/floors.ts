import type { BenchEnv } from "./bindings.ts";

/** The least that a Worker on the same storage could do, on the same rows and objects. */

export type Route = (env: BenchEnv, query: URLSearchParams, request: Request) => Promise<Response>;

const PIECE = 1024 * 1024;
/** Without it, the local server compresses. */
const BYTES = { "Content-Type": "application/octet-stream" };

const ROW = "SELECT * FROM items WHERE vault_id = ?1 AND id = ?2";
const ROWS = "SELECT id, version, overview FROM items WHERE vault_id = ?1 ORDER BY id LIMIT 100";
const VAULT = "SELECT * FROM vaults WHERE id = ?1";
const FILES = "SELECT * FROM files WHERE vault_id = ?1 AND item_id = ?2";

export const floors: Readonly<Record<string, Route>> = {
  "/bench/json": async () => Response.json({ hello: "world" }),

  "/bench/select": async ({ DB }, query) =>
    Response.json(await DB.prepare(ROW).bind(query.get("vault"), query.get("item")).first()),

  "/bench/batch": async ({ DB }, query) => {
    const [vault, item] = [query.get("vault"), query.get("item")];
    const inVault = (sql: string) => DB.prepare(sql).bind(vault, item);
    const results = await DB.batch([DB.prepare(VAULT).bind(vault), inVault(ROW), inVault(FILES)]);
    return Response.json(results.map(({ results: rows }) => rows));
  },

  "/bench/rows": async ({ DB }, query) => {
    const { results } = await DB.prepare(ROWS).bind(query.get("vault")).all();
    return Response.json(results);
  },

  "/bench/upsert": async ({ FLOOR }, query, request) => {
    const id = query.get("vault")!;
    return new Response(await FLOOR.getByName(id).upsert(id, await request.text()));
  },

  /** Milliseconds, one after the other. */
  "/bench/wait": async (_env, query) => {
    for (const step of query.get("steps")!.split(",")) await new Promise((resolve) => setTimeout(resolve, Number(step)));
    return Response.json("done");
  },

  /** An R2 object, its stream passed through untouched. */
  "/bench/pass": async (env, query) => {
    const object = (await env.FILES.get(query.get("key")!))!;
    return new Response(object.body, { headers: { ...BYTES, "Content-Length": String(object.size) } });
  },

  /** An R2 object, read in JavaScript in large pieces and handed on unopened. */
  "/bench/pieces": async (env, query) => {
    const object = (await env.FILES.get(query.get("key")!))!;
    const { readable, writable } = new FixedLengthStream(object.size);
    void handOn(object.body.getReader({ mode: "byob" }), writable.getWriter());
    return new Response(readable, { headers: BYTES });
  },
};

async function handOn(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  for (;;) {
    const { value } = await reader.readAtLeast(PIECE, new Uint8Array(PIECE));
    if (value) await writer.write(value);
    if (!value || value.length < PIECE) return writer.close();
  }
}
