import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { bundleCode } from "../../../scripts/build/worker.ts";
import type { Received } from "../../../scripts/webhook-receiver-control.ts";
import { startReceiver } from "../../../scripts/webhook-receiver.ts";
import { startWorker } from "../../sdk/support/worker.ts";
import { serving, startProcess } from "../support/process.ts";
import { newDirectory } from "../support/server.ts";
import { FAULT_HEADER, type Fault } from "./faults.ts";

/** Both servers with the same Worker: workerd, as Miniflare runs it, and `item-vault server`. */

export const SECRETS = {
  ADMIN_TOKEN: "an-admin-token-for-the-differential-test",
  METRICS_TOKEN: "a-metrics-token-for-the-differential-test",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};

/** The audience of workload tokens: the origins of the two differ. */
export const AUDIENCE = "https://vault.test";

/** An answer that has not come after so long never comes. */
const HANG_MS = 60_000;

/** A request as both get it, but for the ids of each. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly fault: Fault | undefined;
}

export interface Answer {
  readonly status: number;
  /** Names as the server writes them, and values: in the order in which the server sends them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Whether the connection ended before the body. */
  readonly isCut: boolean;
}

export interface Side {
  readonly name: string;
  readonly origin: string;
  /** The origin to which its webhooks deliver. */
  readonly receiver: string;
  readonly send: (sent: Sent) => Promise<Answer>;
  /** Returns the messages to a path of the receiver. */
  readonly received: (path: string) => Promise<readonly Received[]>;
}

export interface Pair {
  readonly sides: readonly [workerd: Side, host: Side];
  readonly close: () => Promise<void>;
}

function sideOf(name: string, url: string, receiver: string): Side {
  const origin = new URL(url).origin;
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  const send = ({ method, path, headers, body, fault }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const isChunked = body === undefined || "Transfer-Encoding" in headers;
      const all = {
        ...headers,
        ...(!isChunked && { "Content-Length": String(Buffer.byteLength(body)) }), // Node sends none with DELETE
        ...(fault && { [FAULT_HEADER]: fault }),
      };
      const sent = request({ hostname, port, agent, method, path, headers: all }, (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        const { statusCode: status = 0, rawHeaders: raw } = response;
        const end = (isCut: boolean) => () =>
          resolve({
            status,
            headers: raw.flatMap((text, at) => (at % 2 === 0 ? [[text, raw[at + 1]!] as const] : [])),
            body: Buffer.concat(chunks),
            isCut,
          });
        response
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", end(false))
          .on("error", end(true));
      });
      sent.setTimeout(HANG_MS, () => sent.destroy(new Error("no answer")));
      sent.on("error", (error) => reject(new Error(`${name}: ${method} ${path}: ${error.message}`)));
      sent.end(body);
    });
  const received = async (path: string) => (await fetch(`${receiver}/control${path}`)).json() as Promise<readonly Received[]>;
  return { name, origin, receiver, send, received };
}

/** Makes the release whose code is the Worker with faults. Returns its folder. */
export async function makeRelease(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "differential-"));
  cpSync(inject("release"), folder, { recursive: true });
  const { code } = await bundleCode("test/host/differential/entry.ts");
  writeFileSync(join(folder, "code/index.js"), code);
  return folder;
}

async function startServer(release: string, data: string, allowedHost: string) {
  const { listening, end } = startProcess(release, [...serving(data), "--allow-host", allowedHost]);
  return { url: await listening(), end };
}

/** The secrets and settings of a server. */
const variablesOf = (receiver: string) => ({
  ...SECRETS,
  WEBHOOK_TEST_ORIGIN: receiver,
  WORKLOAD_AUDIENCE: AUDIENCE,
  BACKUP_HOUR: "off",
});

/** Starts both servers with a release, each with empty storage and a receiver of webhooks of its own. */
export async function startPair(release: string): Promise<Pair> {
  const receivers = [await startReceiver(), await startReceiver()] as const;
  const data = newDirectory();
  writeFileSync(
    `${data}.secrets`,
    Object.entries(variablesOf(receivers[1]))
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(""),
    { mode: 0o600 },
  );
  const [worker, server] = await Promise.all([
    startWorker(variablesOf(receivers[0]), {}, [], join(release, "wrangler.toml")),
    startServer(release, data, new URL(receivers[1]).host),
  ]);
  return {
    sides: [sideOf("workerd", worker.url, receivers[0]), sideOf("item-vault server", server.url, receivers[1])],
    async close() {
      await Promise.all([worker.close(), server.end("SIGKILL")]);
    },
  };
}
