import type { BenchEnv } from "./bindings.ts";

/** The baselines: minimal routes that use the same storage, rows and objects as the service, and do nothing else. */

export type BenchRoute = (env: BenchEnv, query: URLSearchParams, request: Request) => Promise<Response>;

const PIECE = 1024 * 1024;
/** The local server does not compress a response with this content type. */
const BINARY = { "Content-Type": "application/octet-stream" };

const SELECT_ITEM = "SELECT * FROM items WHERE vault_id = ?1 AND id = ?2";
const SELECT_OVERVIEWS = "SELECT id, version, overview FROM items WHERE vault_id = ?1 ORDER BY id LIMIT 100";
const SELECT_VAULT = "SELECT * FROM vaults WHERE id = ?1";
const SELECT_FILES = "SELECT * FROM files WHERE vault_id = ?1 AND item_id = ?2";

export const baselines: Readonly<Record<string, BenchRoute>> = {
  /** A response without storage. */
  "/bench/json": async () => Response.json({ hello: "world" }),

  /** One D1 statement: the row of an Item. */
  "/bench/select": async ({ DB }, query) =>
    Response.json(await DB.prepare(SELECT_ITEM).bind(query.get("vault"), query.get("item")).first()),

  /** One D1 batch: the rows of a vault, of an Item and of its Files. */
  "/bench/batch": async ({ DB }, query) => {
    const [vault, item] = [query.get("vault"), query.get("item")];
    const inVault = (sql: string) => DB.prepare(sql).bind(vault, item);
    const results = await DB.batch([DB.prepare(SELECT_VAULT).bind(vault), inVault(SELECT_ITEM), inVault(SELECT_FILES)]);
    return Response.json(results.map(({ results: rows }) => rows));
  },

  /** One D1 statement: the encrypted overviews of 100 Items. */
  "/bench/rows": async ({ DB }, query) => {
    const { results } = await DB.prepare(SELECT_OVERVIEWS).bind(query.get("vault")).all();
    return Response.json(results);
  },

  /** One call of a Durable Object, which makes one D1 call. */
  "/bench/upsert": async ({ BASELINE }, query, request) => {
    const id = query.get("vault")!;
    return new Response(await BASELINE.getByName(id).upsert(id, await request.text()));
  },

  /** Timers that run one after the other. `steps`: their durations in milliseconds, separated by commas. */
  "/bench/wait": async (_env, query) => {
    for (const step of query.get("steps")!.split(",")) await new Promise((resolve) => setTimeout(resolve, Number(step)));
    return Response.json("done");
  },

  /** An R2 object whose stream is the body of the response, so that no byte passes through JavaScript. */
  "/bench/stream": async (env, query) => {
    const object = (await env.FILES.get(query.get("key")!))!;
    return new Response(object.body, { headers: { ...BINARY, "Content-Length": String(object.size) } });
  },

  /** An R2 object that JavaScript copies in pieces of 1 MiB, without decrypting them. */
  "/bench/pieces": async (env, query) => {
    const object = (await env.FILES.get(query.get("key")!))!;
    const { readable, writable } = new FixedLengthStream(object.size);
    void copyPieces(object.body.getReader({ mode: "byob" }), writable.getWriter());
    return new Response(readable, { headers: BINARY });
  },
};

async function copyPieces(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  for (;;) {
    const { value } = await reader.readAtLeast(PIECE, new Uint8Array(PIECE));
    if (value) await writer.write(value);
    if (!value || value.length < PIECE) return writer.close();
  }
}
