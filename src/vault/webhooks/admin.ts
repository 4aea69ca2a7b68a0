import { createWebhookSecret } from "../../crypto/webhook-signature.ts";
import type { Cursor } from "../../model/cursor.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY, SECOND } from "../../model/time.ts";
import type { Webhook, WebhookChange, WebhookRequest, AttemptRequest, RecordedAttempt } from "../../model/webhook.ts";
import { deleteWebhook, insertWebhook, replaceWebhook } from "../../store/commit/webhooks.ts";
import {
  findProgress,
  insertProgress,
  type Progress,
  replaceProgress,
  listAttempts,
  recordAttempt,
} from "../../store/events/webhook-progress.ts";
import {
  loadWebhooks,
  sealWebhook,
  type StoredWebhook,
  type VaultWebhooks,
  type WebhookDefinition,
} from "../../store/events/webhook-rows.ts";
import { idle, newProgress, reconcile } from "./delivery.ts";
import { type WebhookPorts, testMessage, sendMessage } from "./messages.ts";

/** The admin's requests about webhooks. Only the coordinator of the vault answers them, because the progress is in its storage. */

/** The number of changes of a webhook that are recognized when their request is repeated. */
const CHANGES_MAX = 20;

/** The row or the keys have changed since they were read. The client sends the request again. */
const CHANGED_SINCE = fail("busy");

type Answer = Result<readonly Webhook[]>;
type Of<K extends WebhookRequest["kind"]> = Extract<WebhookRequest, { kind: K }>;

/**
 * Answers a request with its webhooks; none after a deletion. Fails with `vault_not_found`, `webhook_not_found`, `idempotency`, `quota`,
 * `database_full`, `busy`, `integrity`, `unavailable` or `uncertain`.
 */
export async function answerWebhooks(ports: WebhookPorts, vault: string, request: WebhookRequest): Promise<Answer> {
  const loaded = await loadWebhooks(ports.store, vault);
  if (!loaded.ok) return loaded;
  reconcile(ports, vault, loaded.value);
  switch (request.kind) {
    case "list":
      return ok(loaded.value.webhooks.flatMap((webhook) => webhookOf(ports, loaded.value, webhook)));
    case "get":
      return answerOne(ports, loaded.value, find(loaded.value, request.id));
    case "create":
      return create(ports, vault, loaded.value, request);
    case "update":
      return update(ports, vault, loaded.value, request);
    default:
      return remove(ports, vault, loaded.value, request);
  }
}

const find = ({ webhooks }: VaultWebhooks, wanted: string) => webhooks.find(({ id }) => id === wanted);

/** Returns the webhook, with its secret if the answer contains it. Returns an empty list if the webhook was since deleted. */
function webhookOf(ports: WebhookPorts, { head }: VaultWebhooks, webhook: StoredWebhook, secret?: string): Webhook[] {
  const progress = findProgress(ports.sql, webhook.id);
  if (!progress || progress.state === "DELETED") return [];
  const { id, createdAt } = webhook;
  const { state, lastDelivery, lastError, failures, sequence } = progress;
  // The head may be the sum of damaged counts.
  const pending = Math.min(Math.max(0, head.sequence - sequence), Number.MAX_SAFE_INTEGER);
  const { url, managedBy } = webhook.definition ?? {};
  return [{ id, url, managedBy, secret, state, createdAt, lastDelivery, lastError, failures, pending }];
}

function answerOne(ports: WebhookPorts, vault: VaultWebhooks, webhook: StoredWebhook | undefined, secret?: string): Answer {
  const webhooks = webhook ? webhookOf(ports, vault, webhook, secret) : [];
  return webhooks.length > 0 ? ok(webhooks) : fail("webhook_not_found");
}

async function create(ports: WebhookPorts, vault: string, loaded: VaultWebhooks, wanted: Of<"create">): Promise<Answer> {
  const { sql, store, clock } = ports;
  const { id, request, webhook } = wanted;
  const existing = find(loaded, id);
  // A deleted one: the request was repeated too late.
  if (existing?.definition?.request !== request && (existing || findProgress(ports.sql, id)?.state === "DELETED"))
    return fail("idempotency");
  if (existing) return answerOne(ports, loaded, existing, existing.definition?.secret);
  if (loaded.webhooks.length >= LIMITS.webhooks) return fail("quota", `${LIMITS.webhooks} webhooks`);
  const { url, managedBy } = webhook;
  const definition = { url, secret: createWebhookSecret(), request, managedBy };
  const row = { id, createdAt: clock(), sealed: await sealWebhook(loaded.keys, vault, id, definition) };
  // Before the row of D1, so that no webhook is without progress.
  const state = webhook.enabled ? "ACTIVE" : "DISABLED";
  insertProgress(sql, { ...idle(newProgress(vault, row, loaded.head, clock()), clock()), state });
  const inserted = await insertWebhook(store, vault, loaded.dataKeyId, row);
  if (!inserted.ok) return inserted;
  return inserted.value ? answerOne(ports, loaded, { ...row, definition }, definition.secret) : CHANGED_SINCE;
}

async function update(
  ports: WebhookPorts,
  vault: string,
  loaded: VaultWebhooks,
  { id, request, change }: Of<"update">,
): Promise<Answer> {
  const found = find(loaded, id);
  if (!found) return fail("webhook_not_found");
  if (!found.definition) return fail("integrity");
  const definition = changeDefinition(found.definition, change, request, ports.clock());
  const replaced =
    definition === found.definition
      ? ok(true)
      : await replaceWebhook(ports.store, vault, loaded.dataKeyId, found, await sealWebhook(loaded.keys, vault, id, definition));
  if (!replaced.ok) return replaced;
  if (!replaced.value) return CHANGED_SINCE;
  const progress = findProgress(ports.sql, id);
  if (progress && progress.state !== "DELETED" && !progress.changes.includes(request)) {
    const changes = [...progress.changes, request].slice(-CHANGES_MAX);
    replaceProgress(ports.sql, progress, { ...changeProgress(progress, change, loaded.head, ports.clock()), changes });
  }
  const secret = change.rotateSecret === undefined ? undefined : definition.secret;
  return answerOne(ports, loaded, { ...found, definition }, secret);
}

async function remove(ports: WebhookPorts, vault: string, loaded: VaultWebhooks, { id }: Of<"delete">): Promise<Answer> {
  const before = findProgress(ports.sql, id);
  if (!find(loaded, id)) return before?.state === "DELETED" ? ok([]) : fail("webhook_not_found");
  const deleted = await deleteWebhook(ports.store, vault, id);
  if (!deleted.ok) return deleted;
  const progress = findProgress(ports.sql, id);
  const ended = { state: "DELETED", due: ports.clock() + DAY } as const;
  if (progress) replaceProgress(ports.sql, progress, { ...progress, ...ended, revision: progress.revision + 1 });
  return ok([]);
}

/** The changes by the admin to a webhook. Pure but for the new secret; times are Unix milliseconds. */

/** Returns the definition itself if nothing changes, also if the request has already made its secret. */
function changeDefinition(
  definition: WebhookDefinition,
  { url = definition.url, rotateSecret }: WebhookChange,
  request: string,
  now: number,
): WebhookDefinition {
  const rotates = rotateSecret !== undefined && definition.rotation !== request;
  if (!rotates) return url === definition.url ? definition : { ...definition, url };
  const previous = rotateSecret > 0 ? { secret: definition.secret, until: now + rotateSecret * SECOND } : undefined;
  return { ...definition, url, secret: createWebhookSecret(), previous, rotation: request };
}

/** Returns the progress after a change by the admin. `head` is the newest position of the vault. */
function changeProgress(progress: Progress, change: WebhookChange, head: Cursor, now: number): Progress {
  const { url, enabled, resume } = change;
  const revived = resume !== undefined || (enabled === true && progress.state === "DISABLED");
  const state = enabled === false ? "DISABLED" : revived ? "ACTIVE" : (progress.state as Webhook["state"]);
  const retried = revived || url !== undefined ? { failures: 0, failingSince: undefined, due: now } : {};
  const { sequence, at } = resume === "latest" ? head : progress;
  return { ...progress, ...retried, sequence, at, state, revision: progress.revision + 1 };
}

/**
 * Lists the attempts to deliver to a webhook, or sends a test to it, which changes neither its state nor its position. Returns the attempts,
 * newest first. Fails with `vault_not_found`, `webhook_not_found`, `integrity` or `unavailable`.
 */
export async function answerAttempts(
  ports: WebhookPorts,
  vault: string,
  { kind, id }: AttemptRequest,
): Promise<Result<readonly RecordedAttempt[]>> {
  const { sql, store, clock, random } = ports;
  const loaded = await loadWebhooks(store, vault);
  if (!loaded.ok) return loaded;
  reconcile(ports, vault, loaded.value);
  const webhook = loaded.value.webhooks.find((one) => one.id === id);
  const progress = findProgress(sql, id);
  if (!webhook || !progress || progress.state === "DELETED") return fail("webhook_not_found");
  if (kind === "list") return ok(listAttempts(sql, id));
  if (!webhook.definition) return fail("integrity");
  const message = await testMessage(progress, clock(), random());
  const attempt = { ...(await sendMessage(ports, webhook.definition, message)), events: 0, test: true } as const;
  recordAttempt(sql, id, attempt);
  return ok([attempt]);
}
