import { fingerprint } from "../crypto/seal.ts";
import { callObject, type Tried, tryObject } from "../durable-object-calls.ts";
import type { ContentAddress } from "../model/file.ts";
import { ADMIN, type Answer, type Change, type Idempotency, type Operation, OPERATION_FORMAT } from "../model/operation.ts";
import { ok, type Result } from "../model/result.ts";
import {
  type AttemptRequest,
  isWebhookWrite,
  type RecordedAttempt,
  type Webhook,
  type WebhookRequest,
} from "../model/webhook.ts";
import { lookAtStates } from "../store/d1/near-reads.ts";
import { originOfCaller } from "./audit.ts";
import { setRequestId } from "./context.ts";
import { setBookmark } from "./near.ts";
import type { Call } from "./route.ts";

/** Sends requests to the coordinator of a vault. */

/** The request to which an Idempotency-Key is bound. It has the canonical ids of the path, so that both forms of an id are one request. */
export interface Binding {
  readonly ids: readonly string[];
  /** The body, or its hash. */
  readonly body?: Uint8Array | undefined;
}

/**
 * Sends a change to the coordinator of a vault. Returns its answer. Fails as the coordinator does, with `unavailable`, or with
 * `uncertain` if the change may have taken effect.
 */
export async function sendChange(call: Call, vault: string, change: Change, binding: Binding): Promise<Result<Answer>> {
  return (await tryChange(call, vault, change, binding)).answer;
}

/** Sends a change as `sendChange` does, and returns also the number of tries. */
export async function tryChange(call: Call, vault: string, change: Change, binding: Binding): Promise<Tried<Answer>> {
  const operation = await operationOf(call, vault, change, binding);
  const known = lookAtStates(call.store.db, Date.now());
  const tried = await tryObject(connect(call, vault), "uncertain", (coordinator) => coordinator.write(operation));
  if (tried.answer.ok) await setBookmark(call, known, tried.answer.value.bookmark);
  return tried;
}

async function operationOf(call: Call, vault: string, change: Change, binding: Binding): Promise<Operation> {
  const { c, actor, claims } = call;
  return {
    format: OPERATION_FORMAT,
    // A new id: the body may have taken minutes, and the log lists writes in the order in which they were sent.
    id: setRequestId(c),
    vault,
    actor,
    token: actor === ADMIN ? undefined : { id: claims.id, hash: claims.hash },
    size: call.body?.bytes.length ?? 0,
    origin: originOfCaller(call),
    idempotency: await bind(call, binding),
    change,
  };
}

/** Hashes of the key and of the request. Neither the key nor the body is stored. */
async function bind({ c, idempotencyKey: key }: Call, { ids, body }: Binding): Promise<Idempotency | undefined> {
  if (key === undefined) return undefined;
  const request = await fingerprint(c.req.method, ids.join("/"), body ?? new Uint8Array());
  return { key: await fingerprint(key.owner, key.text), request };
}

/** Records a content with the coordinator before its upload. Fails with `unavailable`. */
export const recordContent = (call: Call, address: ContentAddress): Promise<Result<undefined>> =>
  callObject(connect(call, address.vault), "unavailable", async (coordinator) => {
    await coordinator.expect(address);
    return ok(undefined);
  });

/** Sends a request about the webhooks of the vault. Fails as the coordinator does, with `unavailable`, or with `uncertain` for a write. */
export const sendWebhookRequest = (call: Call, request: WebhookRequest): Promise<Result<readonly Webhook[]>> =>
  callObject(connect(call, call.vault), isWebhookWrite(request) ? "uncertain" : "unavailable", (coordinator) =>
    coordinator.webhooks(call.vault, request),
  );

/**
 * Lists the attempts to deliver to the webhook of the path, or sends a test to it. Retries if the coordinator was reset. Fails as
 * `sendWebhookRequest` does.
 */
export const sendAttemptRequest = (call: Call, kind: AttemptRequest["kind"]): Promise<Result<readonly RecordedAttempt[]>> =>
  callObject(connect(call, call.vault), kind === "test" ? "uncertain" : "unavailable", (coordinator) =>
    coordinator.webhookAttempts(call.vault, { kind, id: call.webhook }),
  );

const connect =
  ({ c }: Call, vault: string) =>
  () =>
    c.env.COORDINATOR.getByName(vault);
