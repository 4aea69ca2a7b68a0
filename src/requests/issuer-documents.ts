import { failedBy } from "../log.ts";
import { discoveryUrlOf, issuerUrlFault } from "../model/public-url.ts";
import { defect, fail, ok, type Result } from "../model/result.ts";
import { type JsonObject, parseStrictObject } from "../model/strict-json.ts";
import { SECOND } from "../model/time.ts";
import { readStream } from "../streams.ts";

/** Requests of the service to issuers of tokens: OpenID Connect Discovery 1.0 section 4, key sets, and token endpoints. */

/** Why a document was not fetched. Only the log gets the word, which contains nothing of an answer. */
export type FetchFault =
  | "url" // the issuer's URL is not allowed any more
  | "keys_url" // the `jwks_uri` is absent or not allowed
  | "endpoint" // the authorization or token endpoint is absent or not allowed
  | "network"
  | "timeout"
  | "redirect"
  | "status"
  | "size"
  | "content" // an answer is not the JSON that it must be
  | "issuer" // the document is that of another issuer
  | "client"; // the issuer does not know the client id, or refuses the secret

export type Fetched<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: FetchFault };

/** An answer with a JSON object. */
export interface Document {
  readonly status: number;
  readonly body: JsonObject;
}

/** The total time for all requests to an issuer for one purpose. */
const FETCH_MS_MAX = 3 * SECOND;
const ANSWER_BYTES_MAX = 64 * 1024;

export const refuse = (fault: FetchFault) => ({ ok: false, fault }) as const;

/** Runs requests that end after three seconds at the latest. `what` names them in the log. Fails with `issuer_unavailable`. */
export async function withDeadline<T>(what: string, run: (signal: AbortSignal) => Promise<Fetched<T>>): Promise<Result<T>> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), FETCH_MS_MAX);
  const fetched = await run(controller.signal).finally(() => clearTimeout(timer));
  return fetched.ok ? fetched : failedBy(what, defect(fetched.fault), "issuer_unavailable");
}

/** Fetches the document in which an issuer describes itself. `issuer` is its URL to the letter. Never throws. */
export async function fetchDescription(
  issuer: string,
  allowedOrigins: readonly string[],
  signal: AbortSignal,
): Promise<Fetched<JsonObject>> {
  // The settings may have changed since the issuer was added.
  if (issuerUrlFault(issuer, "fetched", allowedOrigins) !== undefined) return refuse("url");
  const description = await fetchDocument(discoveryUrlOf(issuer), signal);
  if (!description.ok) return description;
  return description.value.body["issuer"] === issuer ? { ok: true, value: description.value.body } : refuse("issuer");
}

/**
 * Fetches a JSON object of at most 64 KiB with any Content-Type. Redirects are not followed. A cached answer could contain keys
 * that the issuer has removed. `statuses` are the accepted statuses. Never throws.
 */
export async function fetchDocument(
  url: string,
  signal: AbortSignal,
  { headers, statuses = [200], ...init }: RequestInit & { readonly statuses?: readonly number[] } = {},
): Promise<Fetched<Document>> {
  try {
    const sent = { Accept: "application/json", "User-Agent": "Item-Vault", ...(headers as Record<string, string>) };
    const { status, body } = await fetch(url, { ...init, redirect: "manual", cache: "no-store", headers: sent, signal });
    if (!statuses.includes(status)) {
      void body?.cancel().catch(() => undefined);
      return refuse(status >= 300 && status < 400 ? "redirect" : "status");
    }
    const bytes = await readStream(body, (size) => (size > ANSWER_BYTES_MAX ? fail("body_too_large") : ok(undefined)));
    const value = bytes.ok && parseStrictObject(bytes.value);
    return value ? { ok: true, value: { status, body: value } } : refuse(bytes.ok ? "content" : "size");
  } catch {
    return refuse(signal.aborted ? "timeout" : "network"); // the error may quote the URL
  }
}
