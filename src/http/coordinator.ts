import { fingerprint } from "../crypto/seal.ts";
import type { ContentPlace } from "../model/file.ts";
import { type Answer, type Change, type Idempotency, formatOf, type Operation } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { VerifyAnswer, VerifyRequest } from "../model/verify.ts";
import { isWebhookWrite, type Webhook, type WebhookRequest } from "../model/webhook.ts";
import { originOf } from "./audit.ts";
import { setRequestId } from "./request-id.ts";
import { callCoordinator, type Tried, tryCoordinator } from "./retry.ts";
import type { Call } from "./route.ts";

/** How a request reaches the coordinator of its vault. */

/** What an Idempotency-Key is bound to: the canonical ids of the path, so that both forms of an id are one request. */
export interface Binding {
  readonly ids: readonly string[];
  /** The body, or its hash. */
  readonly body?: Uint8Array | undefined;
}

/**
 * Sends a change to the coordinator of a vault. Out: its answer. Errors: those of the coordinator; `unavailable`;
 * `uncertain`, when the change may have taken effect.
 */
export async function sendChange(call: Call, vault: string, change: Change, binding: Binding): Promise<Result<Answer>> {
  return (await tryChange(call, vault, change, binding)).answer;
}

/** Sends a change as `sendChange`, and also tells how often. */
export async function tryChange(call: Call, vault: string, change: Change, binding: Binding): Promise<Tried<Answer>> {
  const { c, actor, claims } = call;
  const operation: Operation = {
    format: formatOf(change),
    // A new id: the body may have taken minutes, and the log lists writes in the order in which they were sent.
    id: setRequestId(c),
    vault,
    actor,
    tokenHash: claims.hash,
    size: call.body?.bytes.length ?? 0,
    origin: originOf(c),
    idempotency: await bind(call, binding),
    change,
  };
  return tryCoordinator(connect(call, vault), "uncertain", (coordinator) => coordinator.write(operation));
}

/** Hashes of the key and of the request. Neither the key nor the body is stored. */
async function bind({ c, actor, idempotencyKey }: Call, { ids, body }: Binding): Promise<Idempotency | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const request = await fingerprint(c.req.method, ids.join("/"), body ?? new Uint8Array());
  return { key: await fingerprint(actor, idempotencyKey), request };
}

/** Records a content with the coordinator before its upload. Errors: `unavailable`. */
export const recordContent = (call: Call, place: ContentPlace): Promise<Result<undefined>> =>
  callCoordinator(connect(call, place.vault), "unavailable", async (coordinator) => {
    await coordinator.expect(place);
    return ok(undefined);
  });

/**
 * Sends a request about the webhooks of the vault. Errors: those of the coordinator; `unavailable`; `uncertain`, for a write;
 * `version_skew`, when the coordinator is of release 0.2.0.
 */
export const sendWebhookRequest = (call: Call, request: WebhookRequest): Promise<Result<readonly Webhook[]>> =>
  callCoordinator(connect(call, call.vault), isWebhookWrite(request) ? "uncertain" : "unavailable", (coordinator) =>
    orSkew(() => coordinator.webhooks(call.vault, request)),
  );

/** Asks the coordinator of a vault for `verify`. Errors: those of the coordinator; `unavailable`; `version_skew`, as above. */
export const sendVerifyRequest = (call: Call, vault: string, request: VerifyRequest): Promise<Result<VerifyAnswer>> =>
  callCoordinator(connect(call, vault), "unavailable", (coordinator) => orSkew(() => coordinator.verify(vault, request)));

/** Errors: `version_skew`, when the coordinator is of a release without the method. */
async function orSkew<T>(send: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await send();
  } catch (error) {
    if (isMissingMethod(error)) return fail("version_skew");
    throw error;
  }
}

/** The words of workerd's error for a method that the class of the object does not have. */
const isMissingMethod = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("The RPC receiver does not implement ");

const connect =
  ({ c }: Call, vault: string) =>
  () =>
    c.env.COORDINATOR.getByName(vault);
