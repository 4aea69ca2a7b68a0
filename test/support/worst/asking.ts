import { env } from "cloudflare:workers";
import type { ContentAddress } from "../../../src/model/file.ts";
import type { Operation } from "../../../src/model/operation.ts";
import type { AttemptRequest, WebhookRequest } from "../../../src/model/webhook.ts";
import type { RestoreContents } from "../../../src/store/restore/step.ts";
import { rebindCoordinator, UNLIMITED } from "../bindings.ts";
import { send } from "../service.ts";
import type { Ask, Sent } from "./world.ts";

/** Sends the worst requests to the Worker of the tests. */

export function headersOf({ token, body, headers = {} }: Omit<Sent, "path">): Record<string, string> {
  const length: Record<string, string> = body instanceof Uint8Array ? { "Content-Length": String(body.length) } : {};
  return { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }), ...length, ...headers };
}

export const ask: Ask = async (method, path, token, body, headers = {}) => {
  const reply = await send(method, path, { headers: headersOf({ token, body, headers }), body, env: { TOKEN_RATE: UNLIMITED } });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.body;
};

/** The bytes of a body as it is sent. */
export function sizeOf(body: Sent["body"]): number {
  if (body === undefined) return 0;
  if (body instanceof Uint8Array) return body.length;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)).length;
}

/** The real coordinators, which use this D1, also after they were evicted. */
export function coordinatorsWith(db: D1Database): Env["COORDINATOR"] {
  const getByName = (name: string) => {
    const rebound = rebindCoordinator(name, { DB: db }).then(() => env.COORDINATOR.getByName(name));
    return {
      write: async (operation: Operation) => (await rebound).write(operation),
      expect: async (address: ContentAddress) => (await rebound).expect(address),
      prepareRestore: async (contents: RestoreContents) => (await rebound).prepareRestore(contents),
      webhookAttempts: async (vault: string, request: AttemptRequest) => (await rebound).webhookAttempts(vault, request),
      webhooks: async (vault: string, request: WebhookRequest) => (await rebound).webhooks(vault, request),
    };
  };
  return { getByName } as unknown as Env["COORDINATOR"];
}
