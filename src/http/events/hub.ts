import type { Cursor } from "../../model/cursor.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { type Channel, createChannel, type Listener, wake, wakeOne } from "./channel.ts";

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
  // Otherwise only waiting requests remove ended requests, and an isolate in which all have ended would refuse every new request.
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
