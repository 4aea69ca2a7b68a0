import { logFailure } from "../log.ts";
import { formatCursor } from "../model/cursor.ts";
import { sequenceOf } from "../model/event.ts";
import type { Vault } from "../model/vault.ts";

/**
 * The WebSockets of the Workers that wait for events of the vault. They hibernate: an idle coordinator leaves memory and they stay open
 * (developers.cloudflare.com/durable-objects/best-practices/websockets). A message is only a hint, because the Worker reads the events. A
 * lost message costs time, but no event.
 */

/** The message after the deletion of the vault. */
const DELETED = "deleted";

/**
 * Notifies the Workers of a commit. `after` is the vault after it; absent if it was deleted. Never throws, because the commit has taken
 * effect.
 */
export function notifyListeners(sockets: readonly WebSocket[], after: Vault | undefined): void {
  const message = after ? formatCursor({ sequence: sequenceOf(after), at: after.updatedAt }) : DELETED;
  for (const socket of sockets) {
    try {
      socket.send(message);
    } catch (error) {
      logFailure("A hint", error); // the WebSocket is closing
    }
  }
}

/** Accepts the WebSocket of a Worker. Every other request is a 426 (RFC 9110 section 15.5.22). */
export function acceptListener(state: DurableObjectState, request: Request): Response {
  if (request.headers.get("Upgrade") !== "websocket") return new Response(null, { status: 426 });
  const { 0: client, 1: server } = new WebSocketPair();
  state.acceptWebSocket(server);
  return new Response(null, { status: 101, webSocket: client });
}
