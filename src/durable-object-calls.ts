import { failedBy, logFailure } from "./log.ts";
import { describe, type Failure, type FailureKind } from "./model/failure.ts";
import type { ServiceKind } from "./model/job.ts";
import { fail, type Result } from "./model/result.ts";
import { classify } from "./store/d1/errors.ts";

const TRIES_MAX = 3;

/** The answer of a Durable Object. */
export interface Tried<T> {
  readonly answer: Result<T>;
  /** Number of calls sent. After a second try, the first object may still be running the call. */
  readonly tries: number;
}

/** The failure if the outcome of a try is unknown: `unavailable` for a read, and for a step that its job repeats. */
type Lost = "uncertain" | "unavailable";

/**
 * Calls a Durable Object, and retries with a new stub if the object was reset. The call must be idempotent. An overloaded object gets no
 * retry (developers.cloudflare.com/durable-objects/best-practices/error-handling). Fails with `lost` if the outcome of a try is unknown.
 */
export async function tryObject<C, T>(
  connect: () => C,
  lost: Lost,
  method: (coordinator: C) => Promise<Result<T>>,
): Promise<Tried<T>> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await method(connect());
      return { answer: tries > 1 && !answer.ok && !isFinal(answer.failure, lost) ? { ...answer, ...fail(lost) } : answer, tries };
    } catch (error) {
      const what = "A call of a Durable Object";
      // A write may have reached the database before the storage of the object was full, so it stays uncertain.
      if (lost === "unavailable" && classify(error) === "full") return { answer: failedBy(what, error, "database_full"), tries };
      const isOverloaded = (error as { overloaded?: boolean }).overloaded === true;
      if (isOverloaded || tries === TRIES_MAX)
        return { answer: failedBy(what, error, tries === 1 ? "unavailable" : lost), tries };
      logFailure(what, error);
    }
  }
}

/** Failures of a write that hold whatever happens to another try: the write took effect, or its key belongs to another request. */
const FINAL: ReadonlySet<FailureKind> = new Set(["overtaken", "idempotency"]);

/**
 * Returns true if a failure also holds for the previous try. That try's object may still be running the call in another state, so a write
 * that is refused here can still take effect there. For other calls, a failure does not hold if it states that nothing happened (contract
 * 10.14).
 */
function isFinal(failure: Failure, lost: Lost): boolean {
  if (lost === "uncertain") return FINAL.has(failure.kind);
  const { status, retryAfterSeconds } = describe(failure);
  return status !== 507 && retryAfterSeconds === undefined;
}

/** Calls a Durable Object as `tryObject` does. Returns its answer. */
export async function callObject<C, T>(...call: Parameters<typeof tryObject<C, T>>): Promise<Result<T>> {
  return (await tryObject(...call)).answer;
}

/** Calls of the operator, the Durable Object of the deployment (jobs/operator.ts). */

/** The name of the only object of the class. */
const OPERATOR_NAME = "operator";

/**
 * Calls the operator, and retries if the object was reset; each of its methods can be repeated. Fails as the method does, with
 * `lost` if the outcome of a try is unknown, and with `unavailable`.
 */
export const callOperator = <T>(
  { OPERATOR }: Pick<Env, "OPERATOR">,
  lost: Lost,
  method: (operator: ReturnType<Env["OPERATOR"]["getByName"]>) => Promise<Result<T>>,
): Promise<Result<T>> => callObject(() => OPERATOR.getByName(OPERATOR_NAME), lost, method);

/**
 * Starts a job of a kind that the service starts by itself. With `waits`, a running job of the kind is followed by one more run.
 * Fails with `version_skew` if the operator does not know the kind yet, and with `unavailable`.
 */
export const startJob = (env: Pick<Env, "OPERATOR">, kind: ServiceKind, waits = false): Promise<Result<undefined>> =>
  callOperator(env, "unavailable", (operator) => operator.start(kind, waits));
