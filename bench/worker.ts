import service from "../src/index.ts";
import schema from "../schema.sql";

/** The service, and beside it the least that a Worker on the same storage could do: the floors. */

export { VaultCoordinator } from "../src/index.ts";

const PIECE = 1024 * 1024;
/** Without it, the local server compresses. */
const BYTES = { "Content-Type": "application/octet-stream" };

const floors: Record<string, (env: Env, url: URL) => Promise<Response>> = {
  /** Makes the tables. */
  "/floor/schema": async (env) => {
    const statements = schema
      .replaceAll(/--.*$/gm, "")
      .split(";")
      .filter((sql) => sql.trim() !== "");
    await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));
    return new Response("done");
  },

  /** The key of the one object whose name begins so. */
  "/floor/key": async (env, url) =>
    new Response((await env.FILES.list({ prefix: url.searchParams.get("prefix")! })).objects[0]!.key),

  /** An R2 object, its stream passed through untouched. */
  "/floor/pass": async (env, url) => {
    const object = (await env.FILES.get(url.searchParams.get("key")!))!;
    return new Response(object.body, { headers: { ...BYTES, "Content-Length": String(object.size) } });
  },

  /** An R2 object, read in JavaScript in large pieces and handed on unopened. */
  "/floor/pieces": async (env, url) => {
    const object = (await env.FILES.get(url.searchParams.get("key")!))!;
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

export default {
  fetch: (request, env, ctx) => {
    const url = new URL(request.url);
    const floor = floors[url.pathname];
    return floor ? floor(env, url) : service.fetch(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
