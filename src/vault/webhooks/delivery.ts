import { logFailure, logRefusal } from "../../log.ts";
import { type Cursor, isAt } from "../../model/cursor.ts";
import { MINUTE, SECOND } from "../../model/time.ts";
import { type Attempt, errorOf } from "../../model/webhook.ts";
import {
  deleteProgress,
  hasActive,
  insertProgress,
  listProgress,
  type Progress,
  replaceProgress,
} from "../../store/events/webhook-progress.ts";
import { loadWebhooks, type StoredWebhook, type VaultWebhooks } from "../../store/events/webhook-rows.ts";
import { sendDeletionNotices } from "./deletion-notice.ts";
import { inParallel, sendMessage } from "./send.ts";
import type { WebhookPorts } from "./ports.ts";
import { delivered, failed, idle, postponed } from "./schedule.ts";
import { ok, type Result } from "../../model/result.ts";
import type { EventPage } from "../../store/events/page.ts";
import { loadEvents } from "../../store/events/events.ts";
import { eventMessage, type Message, resetMessage } from "./message.ts";

/**
 * The webhooks' part of the coordinator's alarm. One D1 call finds the webhooks and the newest event, another one a page of events
 * for all webhooks at the same position.
 */

/** A request that writes the rows of both storages may take this long: until then a row may lack the other one. */
const BEING_WRITTEN_MS = MINUTE;

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

/** Delivers the events that the webhooks have not received, within the bounds of a run. */
export async function runWebhooks(ports: WebhookPorts): Promise<void> {
  const { sql, store, clock } = ports;
  const [any] = listProgress(sql);
  if (!any) return;
  const loaded = await loadWebhooks(store, any.vault);
  if (!loaded.ok && loaded.failure.kind === "vault_not_found") return sendDeletionNotices(ports);
  if (!loaded.ok) {
    logRefusal(loaded);
    return postponeAll(ports);
  }
  const { vault } = any;
  reconcile(ports, vault, loaded.value);
  const run = {
    ...ports,
    vault,
    head: loaded.value.head,
    until: clock() + RUN_MAX.milliseconds,
    budget: { messages: RUN_MAX.messages },
    load: pageLoader(ports, vault),
  };
  const known = new Map(loaded.value.webhooks.map((webhook) => [webhook.id, webhook]));
  await inParallel(dueRows(ports), async (progress) => {
    const webhook = known.get(progress.id);
    if (webhook && progress.state === "ACTIVE") await deliverEvents(run, webhook, progress);
    else replaceProgress(sql, progress, postponed(progress, clock()));
  });
}

/** The webhooks that are due. Those furthest behind come first. Those whose receivers fail come last, so that they delay no other one. */
const dueRows = ({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): Progress[] =>
  listProgress(sql)
    .filter(({ state, failures, due }) => due <= clock() || (state === "ACTIVE" && failures === 0))
    .toSorted((a, b) => a.failures - b.failures || a.sequence - b.sequence);

/** When D1 did not answer: postpones what is due. The other rows keep their times. */
export function postponeAll({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): void {
  for (const progress of dueRows({ sql, clock })) replaceProgress(sql, progress, postponed(progress, clock()));
}

/** Makes the coordinator's rows agree with those of D1, after an interrupted request or a restore of the database. */
export function reconcile({ sql, clock }: WebhookPorts, vault: string, { head, webhooks }: VaultWebhooks): void {
  const now = clock();
  const ids = new Set(webhooks.map(({ id }) => id));
  for (const progress of listProgress(sql)) {
    const { id, state, due, createdAt, deletionNoticeAt } = progress;
    const ended = state === "DELETED" ? due <= now : !ids.has(id) && createdAt < now - BEING_WRITTEN_MS;
    if (ended) deleteProgress(sql, id);
    // The vault is still there, so its deletion has failed.
    else if (deletionNoticeAt !== null && deletionNoticeAt < now - BEING_WRITTEN_MS)
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
  changes: [],
});

/** Delivers events to one webhook, one at a time and in order. */

/** The most messages, and about the most milliseconds, of one run of the alarm. On the free plan an invocation sends at most 50. */
const RUN_MAX = { messages: 40, milliseconds: 20 * SECOND };

/** The state that the webhooks of a run share. */
interface Run extends WebhookPorts {
  readonly vault: string;
  /** The position after the newest write of the vault when the run began. */
  readonly head: Cursor;
  /** No delivery begins after this time: Unix milliseconds. */
  readonly until: number;
  /** The messages that the run may still send. */
  readonly budget: { messages: number };
  /** Loads the events after a position, once a run. */
  readonly load: (after: Cursor) => Promise<Result<EventPage>>;
}

/** Loads each page once: the webhooks of a vault are usually at the same position. */
function pageLoader({ store }: WebhookPorts, vault: string): Run["load"] {
  const pages = new Map<string, Promise<Result<EventPage>>>();
  return (after) => {
    const key = `${after.sequence} ${after.at}`;
    const page = pages.get(key) ?? loadEvents(store, vault, after, RUN_MAX.messages);
    pages.set(key, page);
    return page;
  };
}

/**
 * Delivers the events that a webhook has not received, within the bounds of a run. Each delivery is recorded before the next one begins.
 */
async function deliverEvents(run: Run, webhook: StoredWebhook, progress: Progress): Promise<void> {
  if (isAt(progress, run.head)) return void replaceProgress(run.sql, progress, idle(progress, run.clock()));
  const page = await nextSteps(run, progress);
  if (!page.ok) logRefusal(page);
  if (!page.ok) return void replaceProgress(run.sql, progress, postponed(progress, run.clock()));
  let current: Progress | undefined = progress;
  for (const step of page.value.steps) {
    if (run.clock() >= run.until || run.budget.messages <= 0) return continueSoon(run, current);
    run.budget.messages--;
    current = await deliver(run, webhook, current, step);
    if (!current) return;
  }
  if (page.value.more) continueSoon(run, current);
  else replaceProgress(run.sql, current, idle(current, run.clock()));
}

/** The next run goes on, which begins at once. */
const continueSoon = ({ sql, clock }: Run, progress: Progress): void =>
  void replaceProgress(sql, progress, { ...progress, due: clock() });

interface Step {
  readonly message: (progress: Progress) => Promise<Message>;
  /** The position after its delivery. */
  readonly position: Cursor;
  /** How many events it has. */
  readonly events: number;
}

/** Errors: `unavailable`, `vault_not_found`. */
async function nextSteps(
  run: Run,
  progress: Progress,
): Promise<Result<{ readonly steps: readonly Step[]; readonly more: boolean }>> {
  const page = await run.load({ sequence: progress.sequence, at: progress.at });
  if (page.ok) {
    const { events, more } = page.value;
    return ok({ more, steps: events.map((event) => ({ message: (to) => eventMessage(to, event), position: event, events: 1 })) });
  }
  if (page.failure.kind !== "cursor_gone") return page;
  return ok({ more: true, steps: [{ message: (to) => resetMessage(to, run.head), position: run.head, events: 0 }] });
}

/** Out: the progress after the delivery; `undefined` when it failed, or when the admin has changed the webhook meanwhile. */
async function deliver(
  run: Run,
  { definition }: StoredWebhook,
  progress: Progress,
  { message, position, events }: Step,
): Promise<Progress | undefined> {
  const attempt: Attempt = definition
    ? await sendMessage(run, definition, await message(progress))
    : { at: run.clock(), milliseconds: 0, error: "integrity" };
  const error = errorOf(attempt);
  const next = error ? failed(progress, error, run.random()) : delivered(progress, position, run.clock());
  return replaceProgress(run.sql, progress, next, { ...attempt, events }) && !error ? next : undefined;
}
