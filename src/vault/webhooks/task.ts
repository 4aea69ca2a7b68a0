import { logFailure } from "../../log.ts";
import type { Cursor } from "../../model/cursor.ts";
import { MINUTE } from "../../model/time.ts";
import {
  deleteProgress,
  hasActive,
  insertProgress,
  listProgress,
  type Progress,
  replaceProgress,
} from "../../store/events/webhook-progress.ts";
import { loadWebhooks, type StoredWebhook, type VaultWebhooks } from "../../store/events/webhook-rows.ts";
import { deliverEvents, pageLoader, RUN } from "./deliver.ts";
import { sendDeletionNotices } from "./deletion-notice.ts";
import { inParallel } from "./parallel.ts";
import type { WebhookPorts } from "./ports.ts";
import { postponed } from "./schedule.ts";

/**
 * The webhooks' part of the coordinator's alarm. One D1 call finds the webhooks and the newest event, another one a page of events
 * for all webhooks at the same position.
 */

/** For so long a row of one storage may lack its row in the other one, because a request is writing them. */
const BEING_WRITTEN = MINUTE;

/**
 * Sets the alarm after a commit, when webhooks wait for its event. The commit's answer does not wait until that is durable: an alarm
 * that is lost is made up for by the next commit, or by the poll (schedule.ts). In: Unix milliseconds. Never throws, because the
 * commit has taken effect.
 */
export async function announceCommit(storage: DurableObjectStorage, now: number): Promise<void> {
  try {
    if (!hasActive(storage.sql)) return;
    const alarm = await storage.getAlarm();
    if (alarm === null || alarm > now) await storage.setAlarm(now, { allowUnconfirmed: true });
  } catch (error) {
    logFailure("The alarm of a commit", error);
  }
}

/** Delivers what the webhooks have not got, within the bounds of a run. */
export async function runWebhooks(ports: WebhookPorts): Promise<void> {
  const { sql, store, clock } = ports;
  const [any] = listProgress(sql);
  if (!any) return;
  const loaded = await loadWebhooks(store, any.vault);
  if (!loaded.ok && loaded.failure.kind === "vault_not_found") return sendDeletionNotices(ports);
  if (!loaded.ok) return postponeAll(ports);
  const { vault } = any;
  reconcile(ports, vault, loaded.value);
  const run = {
    ...ports,
    vault,
    head: loaded.value.head,
    until: clock() + RUN.time,
    budget: { messages: RUN.messages },
    load: pageLoader(ports, vault),
  };
  const known = new Map(loaded.value.webhooks.map((webhook) => [webhook.id, webhook]));
  await inParallel(dueRows(ports), async (progress) => {
    const webhook = known.get(progress.id);
    if (webhook && progress.state === "ACTIVE") await deliverEvents(run, webhook, progress);
    else replaceProgress(sql, progress, postponed(progress, clock()));
  });
}

/**
 * Those with something to do. Receivers that fail come last, so that they delay no other one; those that are furthest behind come first.
 */
const dueRows = ({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): Progress[] =>
  listProgress(sql)
    .filter(({ state, failures, due }) => due <= clock() || (state === "ACTIVE" && failures === 0))
    .toSorted((a, b) => a.failures - b.failures || a.sequence - b.sequence);

/** When D1 did not answer: postpones what is due. The other rows keep their times. */
export function postponeAll({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): void {
  for (const progress of dueRows({ sql, clock })) replaceProgress(sql, progress, postponed(progress, clock()));
}

/** Makes the coordinator's rows fit those of D1: after an interrupted request, or after a restore of the database. */
export function reconcile({ sql, clock }: WebhookPorts, vault: string, { head, webhooks }: VaultWebhooks): void {
  const now = clock();
  const ids = new Set(webhooks.map(({ id }) => id));
  for (const progress of listProgress(sql)) {
    const { id, state, due, createdAt, deletionNoticeAt } = progress;
    const ended = state === "DELETED" ? due <= now : !ids.has(id) && createdAt < now - BEING_WRITTEN;
    if (ended) deleteProgress(sql, id);
    // The vault is still there, so its deletion has failed.
    else if (deletionNoticeAt !== null && deletionNoticeAt < now - BEING_WRITTEN)
      replaceProgress(sql, progress, { ...progress, deletionNotice: null, deletionNoticeAt: null });
  }
  const known = new Set(listProgress(sql).map(({ id }) => id));
  for (const webhook of webhooks) if (!known.has(webhook.id)) insertProgress(sql, restoredProgress(vault, webhook, head, now));
}

/** The progress of a webhook that a restore of the database has brought back. It is paused, because the admin had deleted it. */
function restoredProgress(vault: string, { id, createdAt }: StoredWebhook, head: Cursor, now: number): Progress {
  return { ...newProgress(vault, { id, createdAt }, head, now), state: "PAUSED", lastError: { kind: "restored", at: now } };
}

/** The progress of a new webhook: it gets the events after the newest one. */
export const newProgress = (
  vault: string,
  { id, createdAt }: Pick<StoredWebhook, "id" | "createdAt">,
  { sequence, at }: Cursor,
  now: number,
): Progress => ({
  id,
  vault,
  state: "ACTIVE",
  sequence,
  at,
  due: now,
  createdAt,
  revision: 0,
  failures: 0,
  failingSince: null,
  lastDelivery: null,
  lastError: null,
  deletionNotice: null,
  deletionNoticeAt: null,
});
