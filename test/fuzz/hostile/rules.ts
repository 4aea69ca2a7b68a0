import { found } from "../../support/canary.ts";
import type { HostileRequest } from "./requests.ts";

/** Rules of the contract that hold for every answer (contract 1.7, 4.1, 4.4 and 4.9). */

const STATUSES = new Set([200, 204, 206, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 416, 429]);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The rules that the answer violates. In: the request; the answer; the word that an error must not contain. */
export function violatedRules({ method }: HostileRequest, { status, headers, text }: Answer, secret: string): string[] {
  const violations: string[] = [];
  const rule = (name: string, holds: boolean) => void (holds || violations.push(name));
  rule("the status is in the contract and not a 5xx", STATUSES.has(status));
  rule("the answer has the header 1Password-Connect-Version", headers.get("1Password-Connect-Version") === "1.8.1");
  rule("the answer has Cache-Control: no-store", /^no-store(, no-transform)?$/.test(headers.get("Cache-Control") ?? ""));
  rule("the answer has X-Content-Type-Options: nosniff", headers.get("X-Content-Type-Options") === "nosniff");
  if (method === "HEAD") rule("HEAD has no body", text === "");
  if (status < 400) return violations;
  const message = method === "HEAD" ? "-" : messageOf(text, status);
  rule("an error has exactly the attributes status and message", message !== undefined);
  rule("a message contains no lone surrogate", message?.isWellFormed() !== false);
  rule("an error is JSON", /^application\/json\b/.test(headers.get("Content-Type") ?? ""));
  rule("an error contains no secret", !found(text + JSON.stringify([...headers])).includes(secret));
  if (status === 401) rule("401 has WWW-Authenticate: Bearer", headers.get("WWW-Authenticate") === "Bearer");
  if (status === 405)
    rule(
      "405 names other methods in Allow",
      (headers.get("Allow") ?? method).split(", ").every((one) => /^[A-Z]+$/.test(one) && one !== method),
    );
  if (status === 416) rule("416 has the size in Content-Range", /^bytes \*\/\d+$/.test(headers.get("Content-Range") ?? ""));
  if (status === 429) rule("429 has Retry-After", /^[1-9]\d*$/.test(headers.get("Retry-After") ?? ""));
  return violations;
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
