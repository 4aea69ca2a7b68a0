import { found } from "../../support/canary.ts";
import type { HostileRequest } from "./requests.ts";

/** What holds of every answer, whatever was asked (docs/api.md). */

const STATUSES = new Set([200, 204, 206, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 416, 429]);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The rules that the answer breaks, in words. In: what was asked; the answer; the word that must not turn up. */
export function broken({ method }: HostileRequest, { status, headers, text }: Answer, secret: string): string[] {
  const faults: string[] = [];
  const rule = (what: string, holds: boolean) => void (holds || faults.push(what));
  rule("the status is one of the contract, never a 5xx", STATUSES.has(status));
  rule("it carries 1Password-Connect-Version", headers.get("1Password-Connect-Version") === "1.8.1");
  rule("it is not to be stored", headers.get("Cache-Control") === "no-store");
  if (method === "HEAD") rule("HEAD has no body", text === "");
  if (status < 400) return faults;
  const message = method === "HEAD" ? "-" : messageOf(text, status);
  rule("an error has the error body, exactly", message !== undefined);
  rule("a message holds no half of a surrogate pair", message?.isWellFormed() !== false);
  rule("an error is JSON", /^application\/json\b/.test(headers.get("Content-Type") ?? ""));
  rule("an error tells no secret", !found(text + JSON.stringify([...headers])).includes(secret));
  if (status === 401) rule("401 asks for a token", headers.get("WWW-Authenticate") === "Bearer");
  if (status === 405)
    rule(
      "405 names other methods",
      (headers.get("Allow") ?? method).split(", ").every((one) => /^[A-Z]+$/.test(one) && one !== method),
    );
  if (status === 416) rule("416 names the size", /^bytes \*\/\d+$/.test(headers.get("Content-Range") ?? ""));
  if (status === 429) rule("429 says when to come back", /^[1-9]\d*$/.test(headers.get("Retry-After") ?? ""));
  return faults;
}

/** The message of an error; `undefined` when the body is not `{status, message}`. */
function messageOf(text: string, status: number): string | undefined {
  try {
    const body = JSON.parse(text) as { status: unknown; message: unknown };
    const exact = body.status === status && Object.keys(body).toSorted().join() === "message,status";
    return exact && typeof body.message === "string" && body.message !== "" ? body.message : undefined;
  } catch {
    return undefined;
  }
}
