import { fingerprint } from "../crypto/seal.ts";
import type { FailureKind } from "../model/failure.ts";
import type { ContentPlace } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import type { Answer, Change, Idempotency, Operation } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { report } from "../store/report.ts";
import { originOf } from "./audit.ts";
import { requestId } from "./request-id.ts";
import type { Call } from "./route.ts";

/** How a write reaches the coordinator of its vault. */

export interface Write {
  readonly vault: string;
  /** The token's id, or `admin`. */
  readonly actor: string;
  /** Bytes of the request's body. */
  readonly size: number;
  readonly idempotency: Idempotency | undefined;
  readonly change: Change;
}

const TRIES = 3;

/** What tells the caller that it may safely come back. */
const NOTHING_HAPPENED: ReadonlySet<FailureKind> = new Set(["busy", "unavailable"]);

/** Sends a write to its vault's coordinator. Out: what it answers. Errors: what it refuses; `unavailable`; `uncertain`, when it may have taken effect. */
export async function send(c: Call, write: Write): Promise<Result<Answer>> {
  const id = requestId(Date.now());
  const operation: Operation = { ...write, id, origin: originOf(c) };
  return ask(c, write.vault, "uncertain", (coordinator) => coordinator.write(operation));
}

/** Tells the coordinator of a content that is about to be uploaded. Errors: `unavailable`. */
export async function expectContent(c: Call, place: ContentPlace): Promise<Result<undefined>> {
  return ask(c, place.vault, "unavailable", async (coordinator) => {
    await coordinator.expect(place);
    return ok(undefined);
  });
}

type Coordinator = ReturnType<Env["COORDINATOR"]["getByName"]>;

/**
 * Asks a vault's coordinator what may safely be asked again: one that was reset loses its callers, not their writes, so
 * a new stub gets the same question. One that is overloaded is left alone
 * (developers.cloudflare.com/durable-objects/best-practices/error-handling).
 * In: `lost`, the failure after a try of which nobody knows what became.
 */
async function ask<T>(
  c: Call,
  vault: string,
  lost: FailureKind,
  question: (coordinator: Coordinator) => Promise<Result<T>>,
): Promise<Result<T>> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await question(c.env.COORDINATOR.getByName(vault));
      // That nothing happened now says nothing of the try before.
      return attempt > 1 && !answer.ok && NOTHING_HAPPENED.has(answer.failure.kind) ? fail(lost) : answer;
    } catch (error) {
      report("a call to a coordinator", error);
      if ((error as { overloaded?: boolean }).overloaded) return fail(attempt === 1 ? "unavailable" : lost);
      if (attempt === TRIES) return fail(lost);
    }
  }
}

/**
 * Reads `Idempotency-Key`: up to 255 visible characters. It belongs to the token and the vault, and is bound to method,
 * path and body. Neither it nor the body is kept, only hashes of them.
 * In: the ids that the path names, in canonical form, so that either form of an id is the same request.
 */
export async function readIdempotency(
  c: Call,
  actor: string,
  ids: readonly string[],
  body: Uint8Array = new Uint8Array(),
): Promise<Result<Idempotency | undefined>> {
  const key = c.req.header("Idempotency-Key");
  if (key === undefined) return ok(undefined);
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > LIMITS.idempotencyKey) {
    return invalid(`Idempotency-Key: is not 1 to ${LIMITS.idempotencyKey} visible ASCII characters`);
  }
  return ok({ key: await fingerprint(actor, key), request: await fingerprint(c.req.method, ids.join("/"), body) });
}
