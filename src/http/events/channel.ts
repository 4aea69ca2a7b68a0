import { type Cursor, isAt } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import type { TokenIdentity } from "../../store/vaults/token-check.ts";

/**
 * The events of one vault that an isolate knows. The state is plain data, because all waiting requests share it, and a request
 * must not touch another request's I/O object (developers.cloudflare.com/workers/observability/errors).
 */
export interface Channel {
  readonly vault: string;
  /** The events after `start` up to `head`, without a gap, so that a request reads them for all others. */
  start: Cursor;
  head: Cursor;
  events: readonly VaultEvent[];
  /** True if the vault may have events after `head`. */
  stale: boolean;
  /** The newest write reported by the coordinator. */
  hint: string | undefined;
  deleted: boolean;
  /** Until this time, in Unix milliseconds, a request reads the events after `head`, so no other request does. */
  readingUntil: number;
  /** The request that holds the WebSocket to the coordinator. */
  owner: Listener | undefined;
  /** No request opens a WebSocket before this time, in Unix milliseconds. */
  connectAt: number;
  readonly listeners: Set<Listener>;
}

/** A request that waits for events. */
export interface Listener {
  readonly token: TokenIdentity;
  /** The topmost token of those that share the places of requests (`rootOf`). */
  readonly family: string;
  readonly vaults: () => Iterable<string>;
  /** True if an event occurred since the request checked its channels. */
  woken: boolean;
  /** Ends the wait of the request; absent while it does not wait, for example because its client reads slowly. */
  resolve: (() => void) | undefined;
  /** Time of the request's last run, and time at which its token was last known to be valid, both in Unix milliseconds. */
  seenAt: number;
  checkedAt: number;
  revoked: boolean;
  /** True if the request has to end, because another family of tokens has less than its share of the requests. */
  displaced: boolean;
}

/** Events that a channel keeps for slow requests, besides the last read. */
const BUFFERED_EVENTS_MAX = 64;

/** Creates a channel. `head` is the position after which nothing was read yet. `stale` is true if there may be later events. */
export const createChannel = (vault: string, head: Cursor, stale: boolean): Channel => ({
  vault,
  start: head,
  head,
  events: [],
  stale,
  hint: undefined,
  deleted: false,
  readingUntil: 0,
  owner: undefined,
  connectAt: 0,
  listeners: new Set(),
});

/** Returns the events after a position, or undefined if the channel does not know the position. */
export function eventsAfter({ start, events }: Channel, position: Cursor): readonly VaultEvent[] | undefined {
  const count = position.sequence - start.sequence;
  if (count < 0 || count > events.length) return undefined;
  return isAt(position, events[count - 1] ?? start) ? events.slice(count) : undefined;
}

/** Appends events that follow `head`. `last` is the position after them. */
export function append(channel: Channel, events: readonly VaultEvent[], last: Cursor): void {
  const excess = Math.max(0, channel.events.length + events.length - Math.max(BUFFERED_EVENTS_MAX, events.length));
  const { sequence, at } = channel.events[excess - 1] ?? channel.start;
  channel.start = { sequence, at };
  channel.events = [...channel.events.slice(excess), ...events];
  channel.head = last;
}

/** Begins again at a position, because the database was restored. */
export function restart(channel: Channel, head: Cursor): void {
  channel.start = channel.head = head;
  channel.events = [];
  channel.stale = false;
}

/** Another request may do this: the platform continues in the context of the waiting request (handle_cross_request_promise_resolution). */
export function wake(listener: Listener): void {
  const { resolve } = listener;
  listener.woken = true;
  listener.resolve = undefined; // a request that has ended without notice is woken only once
  resolve?.();
}

/** Wakes the requests that wait for events of the vault. */
export function wakeAll({ listeners }: Channel): void {
  for (const listener of listeners) wake(listener);
}

/** Wakes one request, so that it reads for all: the owner of the WebSocket if it waits, because it has not ended. */
export function wakeOne({ owner, listeners }: Channel): void {
  const waiting = owner?.resolve ? owner : [...listeners].find(({ resolve }) => resolve);
  const one = waiting ?? owner;
  if (one) wake(one);
}
