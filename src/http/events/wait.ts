import { logFailure } from "../../log.ts";
import { SECOND } from "../../model/time.ts";
import { type Channel, type Listener, wake, channels } from "./hub.ts";
import { check, checkAll, checkSome, isCheckDue, isReadable, readChannel, takeHint } from "./reads.ts";
import { channelsOf, joinHub, type News, type Session, takeNews } from "./subscription.ts";

/** The wait of a request for events. The requests of an isolate share their reads and the connections to coordinators. */

/** The outcome of a wait: news (none if the time is over), or the end of the token or the request. */
export type Outcome = { readonly news: readonly News[] } | { readonly ended: EndReason };

type EndReason = "closed" | "unauthorized" | "unavailable" | "call_limit";

/** A token that could not be checked for this time counts as revoked. */
const UNCHECKED_MS_MAX = 30 * SECOND;

/** A Worker may send 1,000 queries to D1 for one request (developers.cloudflare.com/d1/platform/limits); a call has up to 2. */
const SESSION_CALLS_MAX = 450;

/** Waits for news of the session's vaults. `until` is the end of the wait, in Unix milliseconds. */
export async function waitForNews(session: Session, until: number): Promise<Outcome> {
  const { listener } = session;
  for (;;) {
    const now = Date.now();
    listener.seenAt = now;
    listener.woken = false;
    const ended = endOf(session, now);
    if (ended) return { ended };
    if (joinHub(session)) {
      // The hub had removed the request, because its client reads slowly. Since then no check has included its token.
      session.calls++;
      await checkSome(session.store, [listener], []);
      continue;
    }
    const before = [...session.positions.values()];
    const news = await takeNews(session);
    if (news.length > 0) return { news };
    if (now >= until) return { news };
    // It has moved past events that the token may not see, and more may follow.
    if ([...session.positions.values()].some((position, index) => position !== before[index])) continue;
    if (await workForAll(session, now)) continue;
    await sleep(listener, Math.max(1, Math.min(until, ...dueTimes(session)) - Date.now()));
  }
}

/** Returns the time at which the token or its session expires, in Unix milliseconds. */
const expiryOf = ({ expiresAt, session }: Session["claims"]): number =>
  Math.min(expiresAt * SECOND, session?.expiresAt ?? Infinity);

function endOf({ listener, claims, calls, closed }: Session, now: number): EndReason | undefined {
  if (closed || listener.displaced) return "closed";
  if (listener.revoked || now >= expiryOf(claims)) return "unauthorized";
  if (now >= listener.checkedAt + UNCHECKED_MS_MAX) return "unavailable";
  return calls >= SESSION_CALLS_MAX ? "call_limit" : undefined;
}

/** Does one task that is due for all requests of the isolate. Returns true if there was one. */
async function workForAll(session: Session, now: number): Promise<boolean> {
  const { store } = session;
  const own = channelsOf(session);
  const unconnected = own.filter((channel) => isUnconnected(channel, now));
  const stale = own.find((channel) => isReadable(channel, now));
  if (isCheckDue(now)) await checkAll(store);
  else if (unconnected.length > 0) await connectAll(session, unconnected);
  else if (stale) await readChannel(store, stale);
  else return false;
  session.calls++;
  return true;
}

/**
 * Concurrent connections to coordinators. A Worker may open six connections at a time (developers.cloudflare.com/workers/platform/limits).
 */
const CONNECTIONS_AT_ONCE_MAX = 6;

/** Opens the WebSockets of channels until the next check is due, then searches for earlier writes. */
async function connectAll(session: Session, own: readonly Channel[]): Promise<void> {
  const { env, store, listener, sockets } = session;
  for (let first = 0; first < own.length && !isCheckDue(Date.now()); first += CONNECTIONS_AT_ONCE_MAX) {
    await Promise.all(
      own.slice(first, first + CONNECTIONS_AT_ONCE_MAX).map(async (channel) => {
        const wanted = !session.closed && isUnconnected(channel, Date.now());
        const socket = wanted ? await connect(env, channel, listener, sockets.get(channel.vault)) : undefined;
        if (socket && session.closed) socket.close(1000);
        else if (socket) sockets.set(channel.vault, socket);
      }),
    );
  }
  const connected = own.filter(({ owner }) => owner === listener);
  if (session.closed || connected.length === 0 || (await checkSome(store, [listener], connected))) return;
  for (const channel of connected) channel.stale = true;
}

/** Yields the times of the next possible tasks. In between, news wake the request. */
function* dueTimes(session: Session): Generator<number> {
  yield check.due;
  yield session.listener.checkedAt + UNCHECKED_MS_MAX;
  yield expiryOf(session.claims);
  if (session.retryAt > Date.now()) yield session.retryAt;
  for (const { stale, readingUntil, owner, connectAt } of channelsOf(session)) {
    if (stale) yield readingUntil;
    if (owner === undefined) yield connectAt;
  }
}

async function sleep(listener: Listener, milliseconds: number): Promise<void> {
  if (listener.woken) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  listener.resolve = resolve;
  const timer = setTimeout(resolve, milliseconds);
  await promise;
  listener.resolve = undefined;
  clearTimeout(timer);
}

/**
 * The WebSocket of an isolate to a vault's coordinator. It belongs to one request, the owner of the channel, and its messages
 * arrive in that request's context. Without a WebSocket, the checks find the events.
 */

/** The time before the next try, after the coordinator has closed the WebSocket or refused it. */
const RETRY_CLOSED_MS = SECOND;
const RETRY_REFUSED_MS = 12 * SECOND;

/** Time limit for the coordinator's answer. A check waits for it, and has to be complete within 15 s after the check before. */
const ANSWER_TIMEOUT_MS = 2 * SECOND;

/** Returns true if a request should open a WebSocket. `now` is in Unix milliseconds. */
const isUnconnected = ({ owner, connectAt }: Channel, now: number): boolean => owner === undefined && connectAt <= now;

/**
 * Opens a WebSocket. Returns it, or undefined if the coordinator does not accept it. `before` is the request's WebSocket at the time before
 * the hub removed the request.
 */
async function connect(
  env: Env,
  channel: Channel,
  listener: Listener,
  before: WebSocket | undefined,
): Promise<WebSocket | undefined> {
  const { vault } = channel;
  channel.owner = listener;
  if (before?.readyState === WebSocket.OPEN) return before;
  const opening = open(env, vault);
  const socket = await inTime(opening);
  if (!socket || channel.owner !== listener) {
    release(channel, listener, RETRY_REFUSED_MS);
    void opening.then((late) => late?.close(1000));
    return undefined;
  }
  // The vault may have another channel by then.
  const withChannel = (act: (current: Channel) => void): void => {
    const current = channels.get(vault);
    if (current) act(current);
  };
  const onEnd = () => withChannel((current) => release(current, listener, RETRY_CLOSED_MS));
  socket.addEventListener("message", ({ data }) => withChannel((current) => takeHint(current, String(data))));
  socket.addEventListener("close", onEnd);
  socket.addEventListener("error", onEnd);
  return socket;
}

/** Returns the WebSocket, or undefined if the coordinator does not answer in time. */
async function inTime(opening: Promise<WebSocket | undefined>): Promise<WebSocket | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ANSWER_TIMEOUT_MS);
  const socket = await Promise.race([opening, promise]);
  clearTimeout(timer);
  return socket;
}

async function open({ COORDINATOR }: Env, vault: string): Promise<WebSocket | undefined> {
  try {
    const request = { headers: { Upgrade: "websocket" } };
    const response = await COORDINATOR.getByName(vault).fetch("https://coordinator/listen", request);
    response.webSocket?.accept();
    return response.webSocket ?? undefined;
  } catch (error) {
    logFailure("The connection to a coordinator", error);
    return undefined;
  }
}

/** Lets any request open a WebSocket later, after at most `delay` milliseconds. */
function release(channel: Channel, listener: Listener, delay: number): void {
  if (channel.owner !== listener) return;
  channel.owner = undefined;
  // At random, so that not all isolates connect to a new coordinator at once.
  channel.connectAt = Date.now() + delay * (0.5 + Math.random() / 2);
  wake(listener);
}
