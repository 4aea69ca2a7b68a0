import { type IncomingHttpHeaders, request, type RequestOptions } from "node:http";
import { buffer } from "node:stream/consumers";
import { inject } from "vitest";
import type { Permission, Scope } from "../../../src/model/permission.ts";

/** Requests to the Worker of the tests, and what every test makes first. */

export type { Permission };

/** Sends a request that the SDK has no method for. Returns the parsed body. Throws an Error with the body of an error response. */
export async function sendRequest(method: string, path: string, token: string, body?: unknown): Promise<unknown> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(new URL(path, inject("url")), {
    method,
    body: raw ? (body as NonNullable<RequestInit["body"]>) : JSON.stringify(body),
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

export const admin = (method: string, path: string, body?: object) =>
  sendRequest(method, `v1/admin/${path}`, inject("secrets").ADMIN_TOKEN, body) as Promise<{ id: string; token: string }>;

/** Makes a vault. Returns its canonical UUID. */
export const makeVault = async (name = "Test"): Promise<string> => (await admin("POST", "vaults", { name })).id;

/** Issues a token, by default in the dialect `connect`, which the SDK needs. */
export const makeToken = (vaults: Scope, dialect: "uuid" | "connect" = "connect") =>
  admin("POST", "tokens", { name: "test", vaults, dialect });

/** Sends a request whose path is not normalized on the way, and whose answer is not decompressed. */
export function sendRaw(options: RequestOptions): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const { hostname, port } = new URL(inject("url"));
  return new Promise((resolve, reject) => {
    request({ hostname, port, ...options }, (response) => {
      const { statusCode = 0, headers } = response;
      buffer(response).then((body) => resolve({ status: statusCode, headers, body }), reject);
    })
      .on("error", reject)
      .end();
  });
}
