import { type Cursor, isAt } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import type { TokenIdentity } from "../../store/vaults/token-check.ts";

/** The requests of this isolate that wait for events, and the channels of their vaults. */

export const listeners = new Set<Listener>();

export const channels = new Map<string, Channel>();

/** A request that has not run for this time has ended without notice. It joins again if it runs after all. */
const LISTENER_LEASE_MS = 30 * SECOND;

/**
 * Ensures that another request of a family of tokens may wait in this isolate (contract 15.11). A family is identified by its topmost token
 * (`rootOf`). Fails with `rate` if the family has `tokenListeners` requests there. Fails so too if all families together have `listeners`,
 * and this family has its share of them.
 */
export function admit(family: string): Result<undefined> {
  // Otherwise only waiting requests remove ended requests, and an isolate in which all requests have ended would refuse every new one.
  if (isFull(family)) removeEnded(Date.now());
  if (!isFull(family)) return ok(undefined);
  const byFamily = Map.groupBy(listeners, (listener) => listener.family);
  const own = byFamily.get(family)?.length ?? 0;
  const share = Math.floor(LIMITS.listeners / (byFamily.size + (own > 0 ? 0 : 1)));
  if (own >= Math.min(share, LIMITS.tokenListeners)) return fail("rate");
  const [most] = [...byFamily.values()].toSorted((a, b) => b.length - a.length);
  displace(most![0]!);
  return ok(undefined);
}

function isFull(family: string): boolean {
  const own = [...listeners].filter((listener) => listener.family === family).length;
  return listeners.size >= LIMITS.listeners || own >= LIMITS.tokenListeners;
}

/** Ends the wait of a request of another family. */
function displace(listener: Listener): void {
  listener.displaced = true;
  leave(listener);
  wake(listener);
}

/** Adds a request with its position in each vault. `stale` returns true if a vault may have later events. */
export function join(listener: Listener, positions: ReadonlyMap<string, Cursor>, stale: (vault: string) => boolean): void {
  listeners.add(listener);
  for (const [vault, position] of positions) {
    const channel = channels.get(vault) ?? createChannel(vault, position, stale(vault));
    channels.set(vault, channel);
    channel.listeners.add(listener);
    // A read that the channel has not caught up with.
    if (position.sequence > channel.head.sequence) channel.stale = true;
  }
}

/** Removes a request. */
export function leave(listener: Listener): void {
  listeners.delete(listener);
  for (const vault of listener.vaults()) leaveChannel(listener, vault);
}

/** Removes a request from the channel of one vault. Another request takes over its WebSocket. */
export function leaveChannel(listener: Listener, vault: string): void {
  const channel = channels.get(vault);
  if (!channel?.listeners.delete(listener)) return;
  if (channel.listeners.size === 0) channels.delete(vault);
  if (channel.owner !== listener) return;
  channel.owner = undefined;
  wakeOne(channel);
}

/** Removes requests that have ended without notice. `now` is in Unix milliseconds. */
export function removeEnded(now: number): void {
  for (const listener of listeners) if (listener.seenAt < now - LISTENER_LEASE_MS) leave(listener);
}

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
export function wakeAll(channel: Channel): void {
  for (const listener of channel.listeners) wake(listener);
}

/** Wakes one request, which reads for all: the owner of the WebSocket if it waits, because it has not ended. */
export function wakeOne(channel: Channel): void {
  const { owner } = channel;
  const waiting = owner?.resolve ? owner : [...channel.listeners].find(({ resolve }) => resolve);
  const one = waiting ?? owner;
  if (one) wake(one);
}
