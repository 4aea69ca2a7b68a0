import { type Cursor, isAt } from "../../model/cursor.ts";
import { ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { type EventPage } from "../../store/events/page.ts";
import { loadEvents } from "../../store/events/events.ts";
import { type Progress, replaceProgress } from "../../store/events/webhook-progress.ts";
import type { StoredWebhook } from "../../store/events/webhook-rows.ts";
import { eventMessage, type Message, resetMessage } from "./message.ts";
import type { WebhookPorts } from "./ports.ts";
import { delivered, failed, idle, postponed } from "./schedule.ts";
import { sendMessage } from "./send.ts";

/** Delivers events to one webhook, one at a time and in order. */

/** The most messages, and about the most milliseconds, of one run of the alarm. On the free plan an invocation sends at most 50. */
export const RUN = { messages: 40, time: 20 * SECOND };

/** What the webhooks of a run have in common. */
export interface Run extends WebhookPorts {
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
export function pageLoader({ store }: WebhookPorts, vault: string): Run["load"] {
  const pages = new Map<string, Promise<Result<EventPage>>>();
  return (after) => {
    const key = `${after.sequence} ${after.at}`;
    const page = pages.get(key) ?? loadEvents(store, vault, after, RUN.messages);
    pages.set(key, page);
    return page;
  };
}

/** Delivers what a webhook has not got, within the bounds of a run. Each delivery is recorded before the next one begins. */
export async function deliverEvents(run: Run, webhook: StoredWebhook, progress: Progress): Promise<void> {
  if (isAt(progress, run.head)) return void replaceProgress(run.sql, progress, idle(progress, run.clock()));
  const page = await nextSteps(run, progress);
  if (!page.ok) return void replaceProgress(run.sql, progress, postponed(progress, run.clock()));
  let current: Progress | undefined = progress;
  for (const { message, position } of page.value.steps) {
    if (run.clock() >= run.until || run.budget.messages <= 0) return continueSoon(run, current);
    run.budget.messages--;
    current = await deliver(run, webhook, current, { message, position });
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
}

/** Errors: `unavailable`, `vault_not_found`. */
async function nextSteps(
  run: Run,
  progress: Progress,
): Promise<Result<{ readonly steps: readonly Step[]; readonly more: boolean }>> {
  const page = await run.load({ sequence: progress.sequence, at: progress.at });
  if (page.ok) {
    const { events, more } = page.value;
    return ok({ more, steps: events.map((event) => ({ message: (to) => eventMessage(to, event), position: event })) });
  }
  if (page.failure.kind !== "cursor_gone") return page;
  return ok({ more: true, steps: [{ message: (to) => resetMessage(to, run.head), position: run.head }] });
}

/** Out: the progress after the delivery; `undefined` when it failed, or when the admin has changed the webhook meanwhile. */
async function deliver(
  run: Run,
  { definition }: StoredWebhook,
  progress: Progress,
  { message, position }: Step,
): Promise<Progress | undefined> {
  const error = definition
    ? await sendMessage(run, definition, await message(progress))
    : ({ kind: "integrity", at: run.clock() } as const);
  const next = error ? failed(progress, error, run.random()) : delivered(progress, position, run.clock());
  return replaceProgress(run.sql, progress, next) && !error ? next : undefined;
}
