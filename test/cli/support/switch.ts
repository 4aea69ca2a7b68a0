import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { inject, onTestFinished } from "vitest";

/** A connection to the service that a test can break, in any of the ways of deaf.ts. */

export interface Switch {
  readonly url: string;
  /** What happens with each request from now on; `undefined`: the service answers. The connections that there are end. */
  readonly set: (fault: ((socket: Socket) => void) | undefined) => void;
  /** Nobody listens any more. */
  readonly close: () => void;
  /** Listens again. */
  readonly open: () => Promise<void>;
}

export async function startSwitch(service = inject("url")): Promise<Switch> {
  const { port: servicePort } = new URL(service);
  const sockets = new Set<Socket>();
  let fault: ((socket: Socket) => void) | undefined;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    keep(socket);
    if (fault) {
      const wanted = fault;
      socket.once("data", () => wanted(socket));
      return;
    }
    const toService = keep(connect(Number(servicePort), "127.0.0.1"));
    socket.pipe(toService).pipe(socket);
    socket.on("close", () => toService.destroy());
    toService.on("close", () => socket.destroy());
  });
  const listen = (port: number) => new Promise<void>((listening) => void server.listen(port, "127.0.0.1", listening));
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    breakAll();
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    set(next) {
      fault = next;
      breakAll();
    },
    close,
    open: () => listen(port),
  };
}
