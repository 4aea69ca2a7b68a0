import { rootOf, type VerifiedClaims } from "../../crypto/token.ts";
import { logRefusal } from "../../log.ts";
import { type Cursor, isAt } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import type { FailureKind } from "../../model/failure.ts";
import { LIMITS } from "../../model/limits.ts";
import { isForItem } from "../../model/permission.ts";
import { SECOND } from "../../model/time.ts";
import type { Store } from "../../store/d1/database.ts";
import { loadEvents, loadPages } from "../../store/events/events.ts";
import {
  type Channel,
  eventsAfter,
  type Listener,
  restart,
  wake,
  channels,
  join,
  leave,
  leaveChannel,
  listeners,
} from "./hub.ts";

/** One request that waits for events, with its position in each vault and its WebSockets. No other request uses it. */
export interface Session {
  readonly env: Env;
  readonly store: Store;
  readonly claims: VerifiedClaims;
  readonly listener: Listener;
  readonly positions: Map<string, Cursor>;
  readonly sockets: Map<string, WebSocket>;
  /** True if the request has ended. Its later work changes nothing. */
  closed: boolean;
  /** D1 does not answer: no further try before this time. Unix milliseconds. */
  retryAt: number;
  /** Number of D1 calls of the request since the start of its wait. */
  calls: number;
}

export type News =
  | { readonly kind: "events"; readonly vault: string; readonly events: readonly VaultEvent[] }
  | { readonly kind: "deleted"; readonly vault: string }
  /** The database was restored, and its log no longer has the position. The session continues at the newest write. */
  | { readonly kind: "reset"; readonly vault: string; readonly position: Cursor };

/** Events of a vault that one read for one request fetches. */
const OWN_READ_EVENTS_MAX = 250;

/** Creates a session. `positions` has the position in each vault after the last sent event. */
export function createSession(
  { env, store, claims }: Pick<Session, "env" | "store" | "claims">,
  positions: ReadonlyMap<string, Cursor>,
): Session {
  const own = new Map(positions);
  const listener: Listener = {
    token: { id: claims.id, hash: claims.hash, session: claims.session },
    family: rootOf(claims),
    vaults: () => own.keys(),
    woken: false,
    resolve: undefined,
    seenAt: Date.now(),
    checkedAt: Date.now(),
    revoked: false,
    displaced: false,
  };
  return { env, store, claims, listener, positions: own, sockets: new Map(), closed: false, retryAt: 0, calls: 0 };
}

/**
 * Adds the request to the hub, or again if the hub has removed it. `stale` returns true if a vault may have later events. Returns
 * true if the request was added.
 */
export function joinHub({ listener, positions }: Session, stale: (vault: string) => boolean = () => true): boolean {
  if (listeners.has(listener)) return false;
  join(listener, positions, stale);
  return true;
}

/** Ends the wait and closes the WebSockets, which other requests reopen. */
export function closeSession(session: Session): void {
  const { listener, sockets } = session;
  session.closed = true;
  leave(listener);
  wake(listener);
  for (const socket of sockets.values()) socket.close(1000);
  sockets.clear();
}

export const channelsOf = ({ positions }: Session): Channel[] =>
  [...positions.keys()].flatMap((vault) => channels.get(vault) ?? []);

/**
 * Returns the news of the vaults since the session's positions, and advances the positions. Events come from the channels. A
 * request that is slower than its channel, or than its database, reads for itself.
 */
export async function takeNews(session: Session): Promise<News[]> {
  const news: News[] = [];
  const behind: (readonly [string, Cursor])[] = [];
  for (const channel of channelsOf(session)) {
    const { vault } = channel;
    const position = session.positions.get(vault)!;
    const events = eventsAfter(channel, position);
    if (channel.deleted) news.push(forget(session, vault));
    else if (events && events.length > 0) news.push(...advance(session, vault, events));
    else if (!events && !isAhead(channel, position)) behind.push([vault, position]);
  }
  if (behind.length > 0 && session.retryAt <= Date.now()) news.push(...(await readBehind(session, behind)));
  return news;
}

/** Returns true if the channel still has to read up to the position. */
const isAhead = ({ head, stale, readingUntil }: Channel, position: Cursor): boolean =>
  position.sequence > head.sequence && (stale || readingUntil > Date.now());

/** Returns an empty list if the token may see none of the events. */
function advance({ positions, claims }: Session, vault: string, events: readonly VaultEvent[]): News[] {
  const { sequence, at } = events.at(-1)!;
  positions.set(vault, { sequence, at });
  const visible = visibleEvents(claims, vault, events);
  return visible.length > 0 ? [{ kind: "events", vault, events: visible }] : [];
}

/** Returns the events of a vault that a token may see: events of the vault itself, and of the Items in its scope (contract 8.15). */
export function visibleEvents(
  { vaults }: Pick<VerifiedClaims, "vaults">,
  vault: string,
  events: readonly VaultEvent[],
): readonly VaultEvent[] {
  return events.filter(({ item }) => item === null || isForItem(vaults[vault], item));
}

/** Removes a vault from the session, which continues without it. */
function forget({ listener, positions, sockets }: Session, vault: string): News {
  leaveChannel(listener, vault);
  positions.delete(vault);
  sockets.get(vault)?.close(1000);
  sockets.delete(vault);
  return { kind: "deleted", vault };
}

async function readBehind(session: Session, behind: readonly (readonly [string, Cursor])[]): Promise<News[]> {
  session.calls++;
  const limit = Math.max(10, Math.floor(OWN_READ_EVENTS_MAX / behind.length));
  const pages = await loadPages(session.store, behind, limit, session.claims);
  if (!pages.ok) {
    session.listener.revoked ||= pages.failure.kind === "unauthorized";
    if (!session.listener.revoked) logRefusal(pages);
    session.retryAt = Date.now() + SECOND * (1 + Math.random());
    return [];
  }
  const news: News[] = [];
  for (const [vault, position] of behind) {
    const page = pages.value.get(vault)!;
    const channel = channels.get(vault);
    if (!page.ok) news.push(...(await handleFailure(session, vault, page.failure.kind)));
    else if (page.value.events.length > 0) news.push(...advance(session, vault, page.value.events));
    // The position is the newest write, which the channel does not know.
    else if (channel && !isAt(channel.head, position)) restart(channel, position);
  }
  return news;
}

async function handleFailure(session: Session, vault: string, kind: FailureKind): Promise<News[]> {
  if (kind === "vault_not_found") return [forget(session, vault)];
  session.calls++;
  const newest = await loadEvents(session.store, vault, "latest", LIMITS.page);
  if (!newest.ok) {
    logRefusal(newest);
    return [];
  }
  session.positions.set(vault, newest.value.last);
  return [{ kind: "reset", vault, position: newest.value.last }];
}
