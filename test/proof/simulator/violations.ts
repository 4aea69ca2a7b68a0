/** The rules that a run can violate. */
export type Rule =
  // What took effect.
  | "effect without a request"
  | "effect before its request"
  | "effect in another place"
  | "effect on a missing Item"
  | "Item made twice"
  | "effect on a missing File"
  | "effect on a missing version"
  | "number of a write is not the next"
  | "effect after the revocation of its token"
  | "write took effect twice"
  | "version without its write"
  | "If-Match ignored"
  | "refused write took effect"
  | "not in the order of arrival"
  // What was answered.
  | "acknowledged write is lost"
  | "effect after its answer"
  | "answer of another state"
  | "different answers to one write"
  | "one entity tag of two versions"
  | "read of no current state"
  | "events differ from the writes"
  // What replicas have answered.
  | "read is older than `stale`"
  | "read is older than its age"
  | "read goes back behind a bookmark"
  | "read of a token without `stale` from a replica"
  | "request that is no near read from a replica"
  | "calls of an answer are in no order of states"
  | "answer lacks what it must have"
  | "unavailable although the primary has answered"
  | "overtaken by no other write"
  | "missing without a deletion"
  | "refused although the Item-Id was free"
  | "refused although If-Match matched"
  | "refused although the token was not revoked"
  | "refused although there was room"
  | "accepted although the token was revoked"
  | "accepted although a token above was revoked"
  | "unexpected answer"
  // What the log has of reads, of denials and of the admin's requests.
  | "request is not in the log"
  | "entry is in the log twice"
  | "entry without a request"
  | "entry of another request"
  | "more entries lost than an isolate may lose"
  | "more entries in a message than a flush may have"
  // What became of jobs.
  | "job is lost"
  | "job has not ended"
  | "job ran beside one that it excludes"
  | "job is done without its work"
  | "job failed without a fault"
  | "job was refused"
  // What backups have, and what a restore makes of them.
  | "backup does not open"
  | "backup of no state of its vault"
  | "backup lacks an entry of the log"
  | "backup has a row twice"
  | "backup names an object that is missing"
  | "restored vault is not complete"
  | "rows changed without a write"
  // What is left at the end.
  | "stored state differs"
  | "stored contents differ"
  | "stored keys differ";

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
}

export const violation = (rule: Rule, detail: string): Violation => ({ rule, detail });
