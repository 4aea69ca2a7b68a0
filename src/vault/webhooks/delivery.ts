import { logFailure, logRefusal } from "../../log.ts";
import { type Cursor, isAt } from "../../model/cursor.ts";
import { ok, type Result } from "../../model/result.ts";
import { MINUTE, SECOND, DAY, HOUR } from "../../model/time.ts";
import { type Attempt, errorOf, type DeliveryError } from "../../model/webhook.ts";
import { type EventPage, loadEvents } from "../../store/events/events.ts";
import {
  deleteProgress,
  hasActive,
  insertProgress,
  listProgress,
  type Progress,
  replaceProgress,
} from "../../store/events/webhook-progress.ts";
import { loadWebhooks, type StoredWebhook, type VaultWebhooks } from "../../store/events/webhook-rows.ts";
import { inParallel, sendMessage, type WebhookPorts, eventMessage, type Message, resetMessage } from "./messages.ts";

/**
 * The webhooks' part of the coordinator's alarm. One D1 call finds the webhooks and the newest event. Another call loads a page of events for
 * all webhooks at the same position.
 */

/** A request that writes the rows of both storages may take this long: until then a row may lack the other one. */
const BEING_WRITTEN_MS = MINUTE;

/**
 * Sets the alarm after a commit, if webhooks wait for its event. `now` is in Unix milliseconds. The commit's answer does not wait until the
 * alarm is durable: the next commit or the poll makes up for a lost alarm. Never throws, because the commit has taken effect.
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

/** Delivers the events that the webhooks have not received, within the bounds of a run. Fails as `loadWebhooks` does. */
export async function runWebhooks(ports: WebhookPorts): Promise<Result<undefined>> {
  const { sql, store, clock } = ports;
  const [any] = listProgress(sql);
  if (!any) return ok(undefined);
  const loaded = await loadWebhooks(store, any.vault);
  if (!loaded.ok && loaded.failure.kind === "vault_not_found") return failAll(ports);
  if (!loaded.ok) return loaded;
  reconcile(ports, any.vault, loaded.value);
  const run = {
    ...ports,
    head: loaded.value.head,
    until: clock() + RUN_MAX.milliseconds,
    budget: { messages: RUN_MAX.messages },
    load: pageLoader(ports, any.vault),
  };
  const known = new Map(loaded.value.webhooks.map((webhook) => [webhook.id, webhook]));
  await inParallel(dueRows(ports), async (progress) => {
    const webhook = known.get(progress.id);
    if (webhook && progress.state === "ACTIVE") await deliverEvents(run, webhook, progress);
    else replaceProgress(sql, progress, postponed(progress, clock()));
  });
  return ok(undefined);
}

/**
 * Returns the due webhooks. Those furthest behind come first. Webhooks with failing receivers come last, so that they delay no other webhook.
 */
const dueRows = ({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): Progress[] =>
  listProgress(sql)
    .filter(({ state, failures, due }) => due <= clock() || (state === "ACTIVE" && failures === 0))
    .toSorted((a, b) => a.failures - b.failures || a.sequence - b.sequence);

/** Postpones due webhooks if D1 did not answer. The other rows keep their times. */
export function postponeAll({ sql, clock }: Pick<WebhookPorts, "sql" | "clock">): void {
  for (const progress of dueRows({ sql, clock })) replaceProgress(sql, progress, postponed(progress, clock()));
}

/** Makes the due webhooks fail: a restore of the vault removes its row for minutes. They are paused after a day. */
function failAll({ sql, clock, random }: WebhookPorts): Result<undefined> {
  for (const progress of dueRows({ sql, clock })) {
    const failure = { kind: "restored", at: clock() } as const;
    if (progress.state === "ACTIVE") replaceProgress(sql, progress, failed(progress, failure, random()));
    else if (progress.state === "DELETED") deleteProgress(sql, progress.id);
  }
  return ok(undefined);
}

/** Makes the coordinator's rows agree with those of D1, after an interrupted request or a restore of the database. */
export function reconcile({ sql, clock }: WebhookPorts, vault: string, { head, webhooks }: VaultWebhooks): void {
  const now = clock();
  const ids = new Set(webhooks.map(({ id }) => id));
  for (const { id, state, due, createdAt } of listProgress(sql)) {
    const ended = state === "DELETED" ? due <= now : !ids.has(id) && createdAt < now - BEING_WRITTEN_MS;
    if (ended) deleteProgress(sql, id);
  }
  const known = new Set(listProgress(sql).map(({ id }) => id));
  for (const webhook of webhooks) if (!known.has(webhook.id)) insertProgress(sql, restoredProgress(vault, webhook, head, now));
}

/** Returns the progress of a webhook that a restore of the database has brought back. It is paused, because the admin had deleted it. */
function restoredProgress(vault: string, { id, createdAt }: StoredWebhook, head: Cursor, now: number): Progress {
  return { ...newProgress(vault, { id, createdAt }, head, now), state: "PAUSED", lastError: { kind: "restored", at: now } };
}

/** Returns the progress of a new webhook, which gets the events after the newest event. */
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
  changes: [],
});

/** Delivers events to one webhook, one at a time and in order. */

/** Limits of one run of the alarm: messages, and approximate milliseconds. On the free plan an invocation sends at most 50 requests. */
const RUN_MAX = { messages: 40, milliseconds: 20 * SECOND };

/** The state that the webhooks of a run share. */
interface Run extends WebhookPorts {
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

/** Lets the next run continue, and start at once. */
const continueSoon = ({ sql, clock }: Run, progress: Progress): void =>
  void replaceProgress(sql, progress, { ...progress, due: clock() });

interface Step {
  readonly message: (progress: Progress) => Promise<Message>;
  /** The position after its delivery. */
  readonly position: Cursor;
  /** Number of events in the message. */
  readonly events: number;
}

/** Fails with `unavailable` or `vault_not_found`. */
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

/** Returns the progress after the delivery, or undefined if it failed or the admin has since changed the webhook. */
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

/** The retries of a webhook, and the time at which it is given up (contract 17.8 and 17.9). Pure functions; times are Unix milliseconds. */

/** The time after which a webhook without news looks for events that no commit has announced. */
const POLL_MS = 15 * MINUTE;

/** The waits double from the first to the longest one. */
const FIRST_WAIT_MS = 5 * SECOND;
const WAIT_MS_MAX = HOUR;

/** A receiver that has failed for this time is paused. */
const GIVE_UP_MS = DAY;

/** The status by which a receiver says that it wants no more messages (Standard Webhooks, "Delivery success and failure"). */
const GONE_STATUS = 410;

/** Returns the progress after the delivery of an event at a position. */
export const delivered = (progress: Progress, { sequence, at }: Cursor, now: number): Progress => ({
  ...progress,
  sequence,
  at,
  due: now,
  failures: 0,
  failingSince: undefined,
  lastDelivery: now,
  lastError: undefined,
});

/** Returns the progress without an event to deliver. */
export const idle = (progress: Progress, now: number): Progress => ({ ...progress, due: now + POLL_MS });

/** Returns the progress after D1 did not answer, which is no failure of the receiver. */
export const postponed = (progress: Progress, now: number): Progress => ({ ...progress, due: now + MINUTE });

/** Returns the progress after a failed attempt: exponential backoff with jitter. `random` is from 0 to 1. */
export function failed(progress: Progress, error: DeliveryError, random: number): Progress {
  const failures = progress.failures + 1;
  const failingSince = progress.failingSince ?? error.at;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MS_MAX) * (0.5 + random / 2);
  const state = error.status === GONE_STATUS ? "DISABLED" : error.at - failingSince >= GIVE_UP_MS ? "PAUSED" : progress.state;
  return { ...progress, state, failures, failingSince, lastError: error, due: error.at + Math.round(wait) };
}
