import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/index.ts";
import type { Permission, Scope } from "../../src/model/permission.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { inSpelling } from "../openapi/support/requests.ts";
import { UNLIMITED } from "./bindings.ts";
import { checkBody, checkHead, checkRequest } from "./documented.ts";

/** Sends real requests to the real Worker. A test uses a new vault (`freshVault`), or one that the tests of its file share. */

export interface Reply {
  readonly status: number;
  /** The kind of an error (contract 4.2); null for a success. */
  readonly kind: string | null;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `undefined` when it is empty or not JSON. */
  readonly body: any;
}

export interface Request_ {
  readonly headers?: HeadersInit;
  /** Sent as JSON; a string, bytes or a stream are sent unchanged. */
  readonly body?: unknown;
  /** By default `https://vault.test`. */
  readonly origin?: string;
  /** Bindings that replace the Worker's own, for example a wrapped D1. */
  readonly env?: Partial<Env>;
  /** Why the service accepts this request, although the document does not describe it. */
  readonly undocumented?: string;
}

/** Sends one request. Throws if the request succeeded and is not as in the OpenAPI document. */
async function dispatch(
  method: string,
  path: string,
  { headers, body, origin = "https://vault.test", env: bindings, undocumented }: Request_,
): Promise<readonly [Request, Response]> {
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  const sent = raw ? body : JSON.stringify(body);
  const request = new Request(`${origin}${path}`, { method, headers, body: sent });
  const response = await worker.fetch(request, { ...env, ...bindings }, createExecutionContext());
  if (undocumented === undefined && (response.ok || response.status === 304))
    checkRequest(request, typeof sent === "string" ? inSpelling(parse(sent)) : undefined);
  return [request, response];
}

/**
 * Sends one request. In: method, path (with query), headers and body. Out: the response with its body unread. Its status and headers,
 * and the body of an error, are as in the OpenAPI document.
 */
export async function fetchRaw(method: string, path: string, options: Request_ = {}): Promise<Response> {
  const [request, response] = await dispatch(method, path, options);
  const expected = checkHead(request, response);
  if (response.status >= 400 && method !== "HEAD") checkBody(expected, await response.clone().json());
  return response;
}

/** Sends one request and reads the body of the answer. Both are as in the OpenAPI document. */
export async function send(method: string, path: string, options: Request_ = {}): Promise<Reply> {
  // What the log has of earlier requests: their window would end two seconds after them.
  if (method === "GET" && /^\/v1\/(admin\/)?activity/.test(path)) await flushBatch(env);
  const [request, response] = await dispatch(method, path, options);
  const expected = checkHead(request, response);
  const text = await response.text();
  const body = parse(text);
  if (method !== "HEAD") checkBody(expected, body);
  const { status, headers } = response;
  return { status, kind: headers.get("Item-Vault-Error"), headers, text, body };
}

function parse(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The status of an answer, and the kind of its error. */
export const outcome = ({ status, kind }: Pick<Reply, "status" | "kind">) => [status, kind];

/** Sends requests with a token. */
export type Client = (method: string, path: string, request?: Request_) => Promise<Reply>;

export const client =
  (token: string): Client =>
  (method, path, { headers, ...rest } = {}) =>
    send(method, path, { ...rest, headers: { Authorization: `Bearer ${token}`, ...(headers as Record<string, string>) } });

export const admin = client(env.ADMIN_TOKEN);

/**
 * Wraps a client so that the log gets an entry for each denial. Without it, the denials of test files that ran before count towards the limit
 * of contract 13.21, and an entry that a test waits for may never be written. A FAILURE_RATE of the request takes precedence.
 */
export const withEachDenialLogged =
  (call: Client): Client =>
  (method, path, request = {}) =>
    call(method, path, { ...request, env: { FAILURE_RATE: UNLIMITED, ...request.env } });

export type { Permission };

/** Creates a vault. Out: its canonical id. */
export async function makeVault(name = "Test"): Promise<string> {
  return (await admin("POST", "/v1/admin/vaults", { body: { name } })).body.id;
}

/** Issues a token. Out: the answer of the admin route, which contains the token. */
export async function makeToken(
  vaults: Scope,
  options: {
    dialect?: "uuid" | "connect";
    expiresIn?: number;
    name?: string;
    binding?: boolean;
    stale?: number;
    delegate?: boolean;
  } = {},
): Promise<{ id: string; token: string }> {
  return (await admin("POST", "/v1/admin/tokens", { body: { name: "test", vaults, ...options } })).body;
}

/** A new vault, and a client whose token has the permission `rw` for it. `items` is the path of its Items. */
export async function freshVault(
  dialect: "uuid" | "connect" = "uuid",
): Promise<{ vault: string; items: string; call: Client; token: string }> {
  const vault = await makeVault();
  const { token } = await makeToken({ [vault]: "rw" }, { dialect });
  return { vault, items: `/v1/vaults/${vault}/items`, call: client(token), token };
}

/** The path of the next page of a list, from the header Link; undefined for the last page. */
export function nextOf({ headers }: Pick<Reply, "headers">): string | undefined {
  const target = /^<([^<>]+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
  return target && new URL(target).pathname + new URL(target).search;
}

/** The bodies of all pages of a list, from a path on. */
export async function pagesFrom<T = any>(call: Client, path: string): Promise<T[][]> {
  const pages: T[][] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const reply: Reply = await call("GET", next);
    pages.push(reply.body);
    next = nextOf(reply);
  }
  return pages;
}

/**
 * One vault for those tests of a file that look at their own Items only. A new vault takes 20 ms of the processor, for its rows, its token
 * and its Durable Object. Out: a function that makes the vault when it is called first.
 */
export function shareVault(dialect: "uuid" | "connect" = "uuid"): () => ReturnType<typeof freshVault> {
  let made: ReturnType<typeof freshVault> | undefined;
  return () => (made ??= freshVault(dialect));
}

/** The smallest Item. */
export const LOGIN = { title: "Login", category: "LOGIN" };
