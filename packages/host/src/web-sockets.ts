/**
 * WebSockets between the Worker and a Durable Object of the same process (`WebSocketPair` of workerd). No client reaches them, so they have neither
 * frames nor a handshake.
 */

/** One end. Messages and the closing arrive in another turn of the event loop, in order. */
class LocalSocket extends EventTarget {
  readyState: number = WebSocket.OPEN;
  other: LocalSocket | undefined;

  accept(): void {}

  send(message: string): void {
    if (this.readyState !== WebSocket.OPEN) throw new TypeError("Can't call WebSocket send() after close().");
    setImmediate(() => this.other?.deliver(new MessageEvent("message", { data: message })));
  }

  close(code = 1005, reason = ""): void {
    if (this.readyState !== WebSocket.OPEN) return;
    this.readyState = WebSocket.CLOSED;
    setImmediate(() => this.other?.end(code, reason));
  }

  private deliver(event: Event): void {
    if (this.readyState === WebSocket.OPEN) this.dispatchEvent(event);
  }

  private end(code: number, reason: string): void {
    if (this.readyState !== WebSocket.OPEN) return;
    this.readyState = WebSocket.CLOSED;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

/** Both ends, as the properties 0 and 1. */
export class LocalSocketPair {
  readonly 0 = new LocalSocket();
  readonly 1 = new LocalSocket();

  constructor() {
    [this[0].other, this[1].other] = [this[1], this[0]];
  }
}

/** The sockets that an object has accepted, which outlive its instances. */
export function createAcceptedSockets() {
  const sockets = new Set<LocalSocket>();
  return {
    accept: (socket: LocalSocket): void => {
      sockets.add(socket);
      socket.addEventListener("close", () => sockets.delete(socket));
    },
    /** Gives those that are open. */
    list: (): LocalSocket[] => [...sockets],
  };
}
