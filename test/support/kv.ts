import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/index.ts";
import { UNLIMITED } from "./bindings.ts";
import type { Reply } from "./service.ts";

/** Sends requests to the read API of Vault KV v2 (contract 29), which is not in the OpenAPI document. */

interface KvRequest {
  /** Sent as `X-Vault-Token`. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly env?: Partial<Env>;
}

/** Sends one request. `path` follows `/vault/v1/`, encoded as the client does it. DOORS names this API. */
export async function kv(method: string, path: string, { token, headers, body, env: bindings }: KvRequest = {}): Promise<Reply> {
  const sent = { ...(token !== undefined && { "X-Vault-Token": token }), ...headers };
  const request = new Request(`https://vault.test/vault/v1/${path}`, {
    method,
    headers: sent,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const opened = { ...env, DOORS: "vault", FAILURE_RATE: UNLIMITED, ...bindings };
  const response = await worker.fetch(request, opened, createExecutionContext());
  const text = await response.text();
  const isJson = response.headers.get("Content-Type") === "application/json";
  const { status, headers: answered } = response;
  const parsed: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
  return { status, kind: answered.get("Item-Vault-Error"), headers: answered, text, body: parsed };
}
