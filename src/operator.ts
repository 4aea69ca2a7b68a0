import type { ServiceKind } from "./model/job.ts";
import type { Result } from "./model/result.ts";
import { callObject, type Lost } from "./retry.ts";

/** Calls of the operator, the Durable Object of the deployment (jobs/operator.ts). */

/** The name of the only object of the class. */
const OPERATOR_NAME = "operator";

/**
 * Sends a call, and again when the object was reset: each of its methods may be repeated. In: the failure after a try whose outcome is
 * unknown. Errors: those of the method, and that failure; `unavailable`.
 */
export const callOperator = <T>(
  { OPERATOR }: Pick<Env, "OPERATOR">,
  lost: Lost,
  method: (operator: ReturnType<Env["OPERATOR"]["getByName"]>) => Promise<Result<T>>,
): Promise<Result<T>> => callObject(() => OPERATOR.getByName(OPERATOR_NAME), lost, method);

/**
 * Starts a job of a kind that the service starts by itself. In: whether another one follows one that is under way. Errors: `version_skew`, when
 * the operator does not know the kind yet; `unavailable`.
 */
export const startJob = (env: Pick<Env, "OPERATOR">, kind: ServiceKind, waits = false): Promise<Result<undefined>> =>
  callOperator(env, "unavailable", (operator) => operator.start(kind, waits));
