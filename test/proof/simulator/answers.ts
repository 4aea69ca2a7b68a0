import type { Reply } from "./history.ts";

/** What an answer states about its request: the only place that depends on the statuses and kinds of failures of the contract. */

export type Outcome =
  | "ok"
  /** The Item or the File did not exist, and nothing happened. */
  | "missing"
  /** The vault had or kept an Item with the `Item-Id`, and nothing happened. */
  | "exists"
  /** `If-Match` named another version, and nothing happened. */
  | "precondition failed"
  /**
   * A destruction named the current version, and nothing happened. A client may name it although it has seen a later one: an Item that
   * was destroyed and made again under its id begins with version 1 (contract 10.24).
   */
  | "current version"
  /** The token was revoked, and nothing happened. */
  | "revoked"
  /** Nothing happened, and a retry helps. */
  | "refused"
  /** The database or the vault had no room, and nothing happened. */
  | "no room"
  /** The write took effect, and a later one has changed the Item. */
  | "overtaken"
  /** The service has a defect, or D1 refuses the row; nothing happened. */
  | "failed"
  /** The write may have taken effect. */
  | "unknown"
  /** An answer that no request of the clients should get. */
  | "unexpected";

/** The outcomes by the kind of the failure (contract 4.3). */
const FAILURES: Readonly<Record<string, Outcome>> = {
  item_not_found: "missing",
  file_not_found: "missing",
  version_not_found: "missing",
  item_exists: "exists",
  invalid: "current version",
  precondition: "precondition failed",
  unauthorized: "revoked",
  busy: "refused",
  unavailable: "refused",
  version_skew: "refused",
  database_full: "no room",
  quota: "no room",
  uncertain: "unknown",
  overtaken: "overtaken",
  internal: "failed",
};

/** In: the answer; `undefined` when there was none. */
export function outcomeOf(reply: Reply | undefined): Outcome {
  if (!reply) return "unknown";
  if (reply.status === 200 || reply.status === 204) return "ok";
  const outcome = FAILURES[reply.failure ?? ""] ?? "unexpected";
  // Retry-After states that nothing happened (contract 10.14).
  return reply.status === 503 && (outcome === "refused") !== (reply.retryAfter !== null) ? "unexpected" : outcome;
}

/** The outcomes after which the operations of the request must not have taken effect. */
export const WITHOUT_EFFECT: ReadonlySet<Outcome> = new Set<Outcome>([
  "missing",
  "exists",
  "current version",
  "precondition failed",
  "revoked",
  "refused",
  "no room",
  "failed",
]);
