/** A receiver of webhooks on this machine, for tests, and a server of key sets: it records requests and answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Behaviour, Received } from "./webhook-receiver-control.ts";

interface Inbox {
  /** For the next requests, in order; the last one stays. */
  behaviours: Behaviour[];
  readonly received: Received[];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Performs a behaviour. `die` closes the connection within the status line. */
function answer(response: ServerResponse, behaviour: Behaviour): void {
  if (behaviour === "hang") return;
  if (behaviour === "die") {
    response.socket?.write("HTTP/1.1 2");
    response.socket?.destroy();
  } else if (behaviour === "endless") {
    response.writeHead(200);
    const timer = setInterval(() => response.write("x".repeat(1024)), 10);
    response.on("close", () => clearInterval(timer));
  } else if (behaviour === "stall") {
    response.writeHead(200);
    response.write("{");
  } else if (typeof behaviour === "object") {
    response.statusCode = ("status" in behaviour && behaviour.status) || 200;
    const text = "text" in behaviour ? behaviour.text : JSON.stringify(behaviour.json);
    setTimeout(() => response.end(text), "after" in behaviour ? behaviour.after : 0);
  } else {
    response.writeHead(behaviour, { Location: "/redirected", "Retry-After": "1" });
    response.end();
  }
}

/**
 * Starts the receiver on a free port; it ends with the process. A request of any path but `/control` goes to the inbox of that path.
 * `PUT /control/<path>` takes an array of behaviours, `GET /control/<path>` returns what was received. Returns its origin.
 */
export async function startReceiver(): Promise<string> {
  const inboxes = new Map<string, Inbox>();
  const inboxOf = (path: string): Inbox => {
    const inbox = inboxes.get(path) ?? { behaviours: [], received: [] };
    inboxes.set(path, inbox);
    return inbox;
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const path = (request.url ?? "").split("?")[0]!;
      const controlled = /^\/control(\/.*)$/.exec(path)?.[1];
      const inbox = inboxOf(controlled ?? path);
      if (controlled === undefined) {
        inbox.received.push({ headers: request.headers as Record<string, string>, body });
        const next = inbox.behaviours.length > 1 ? inbox.behaviours.shift() : inbox.behaviours[0];
        return answer(response, next ?? 204);
      }
      if (request.method === "PUT") inbox.behaviours = JSON.parse(body) as Behaviour[];
      return void response.end(JSON.stringify(inbox.received));
    });
  });
  server.unref();
  // Idle connections must not keep the process alive either.
  server.on("connection", (socket) => void socket.unref());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
