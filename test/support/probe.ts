import * as workers from "cloudflare:workers";
import service from "../../src/index.ts";

export * from "../../src/index.ts";

/** The service, and a route that shows what any code in its bundle can read without being handed it. */
export default {
  ...service,
  fetch(request: Request, env: Env, context: ExecutionContext) {
    if (new URL(request.url).pathname !== "/probe") return service.fetch(request, env, context);
    const { process, Buffer } = globalThis as Readonly<Record<string, any>>;
    const importable = (workers as { readonly env?: object }).env ?? {};
    return Response.json({
      process: Object.keys(process?.env ?? {}),
      buffer: typeof Buffer,
      importable: Object.keys(importable),
      given: Object.keys(env),
    });
  },
};
