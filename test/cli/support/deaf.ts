import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Servers that answer as Item Vault never does. */

const answer = (status: string, headers: readonly string[], body: string): string =>
  [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");
const JSON_HEADERS = ["Content-Type: application/json", "Request-Id: 0198c5a0-0000-7000-8000-000000000000"];
const HALF = ["HTTP/1.1 200 OK", ...JSON_HEADERS, "Content-Length: 1000", "", '[{"id":"half'].join("\r\n");
const HTML = "<!doctype html><title>Sign in</title>";

/** What each does with a request. */
export const FAULTS: Readonly<Record<string, (socket: Socket) => void>> = {
  "a silent host": () => undefined,
  "an HTML page": (socket) => socket.end(answer("200 OK", ["Content-Type: text/html"], HTML)),
  "an HTML page that says 404": (socket) => socket.end(answer("404 Not Found", ["Content-Type: text/html"], HTML)),
  "a redirect": (socket) => socket.end(answer("302 Found", ["Location: http://127.0.0.1:1/sign-in"], "")),
  "JSON of another service": (socket) => socket.end(answer("200 OK", ["Content-Type: application/json"], '{"hello":1}')),
  "JSON that ends early": (socket) => socket.end(answer("200 OK", JSON_HEADERS, '[{"id":')),
  "half an answer, and then silence": (socket) => void socket.write(HALF),
  "half an answer, and then a closed socket": (socket) => void socket.write(HALF, () => socket.resetAndDestroy()),
  "a closed socket": (socket) => socket.resetAndDestroy(),
  "no HTTP": (socket) => socket.end("220 mail.example.com ESMTP\r\n"),
};

/** Starts the server of a fault until the end of the test. Returns its URL. */
export async function startDeafServer(fault: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => fault(socket));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
