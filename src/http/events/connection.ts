import { logFailure } from "../../log.ts";
import { SECOND } from "../../model/time.ts";
import { type Channel, type Listener, wake } from "./channel.ts";
import { channels } from "./hub.ts";
import { takeHint } from "./reads.ts";

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
export const isUnconnected = ({ owner, connectAt }: Channel, now: number): boolean => owner === undefined && connectAt <= now;

/**
 * Opens a WebSocket. Returns it, or undefined if the coordinator does not accept it. `before` is the request's WebSocket from
 * before the hub removed the request.
 */
export async function connect(
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
