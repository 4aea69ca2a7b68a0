import { createHmac } from "node:crypto";
import { request } from "node:http";
import { describe, expect, inject, it, vi } from "vitest";
import type { Received } from "../../scripts/webhook-receiver-control.ts";
import { admin, freshVault, login, makeItems, type TestVault } from "./support/vault.ts";

/**
 * Server-sent events over HTTP. Here each stream is a request of its own to workerd, which forbids that one uses an I/O object of
 * another: the streams of an isolate share what they know of a vault nevertheless.
 */

interface Stream {
  /** The numbers of the events so far. */
  readonly numbers: number[];
  readonly ended: Promise<void>;
  readonly destroy: () => void;
}

/** Opens a stream. Resolves when its first bytes have arrived. */
function open({ vault, token }: Pick<TestVault, "vault" | "token">, path = `v1/vaults/${vault}/events`): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<Stream>();
  const end = Promise.withResolvers<void>();
  const numbers: number[] = [];
  const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
  const sent = request(new URL(path, inject("url")), { headers, agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (piece: string) => {
      text += piece;
      for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
        const data = /^data: (.*)$/m.exec(text.slice(0, at))?.[1];
        if (data !== undefined) numbers.push((JSON.parse(data) as { sequence: number }).sequence);
        text = text.slice(at + 2);
      }
      resolve({ numbers, ended: end.promise, destroy: () => void sent.destroy() });
    });
    response.on("error", () => undefined);
    response.on("close", () => end.resolve());
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}

const numbersOf = (streams: readonly Stream[]) => streams.map(({ numbers }) => numbers);

describe("streams over HTTP", () => {
  it("get each write once, also after the client of the one that holds the WebSocket has gone away", async () => {
    const fresh = await freshVault();
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(fresh)));
    const all = await open(fresh, "v1/events");
    await makeItems(fresh, "first");
    await expect.poll(() => numbersOf([...streams, all]), { timeout: 120_000 }).toEqual([[2], [2], [2], [2], [2], [2]]);
    streams[0]!.destroy();
    await makeItems(fresh, "second", "third");
    const rest = [...streams.slice(1), all];
    await expect.poll(() => numbersOf(rest), { timeout: 120_000 }).toEqual(rest.map(() => [2, 3, 4]));
    for (const stream of rest) stream.destroy();
  });

  it("end when their vault is deleted", async () => {
    const fresh = await freshVault();
    const streams = await Promise.all([open(fresh), open(fresh)]);
    await admin("DELETE", `vaults/${fresh.canonical}`);
    expect(await Promise.all(streams.map(({ ended }) => ended))).toHaveLength(2);
  });
});

/** Webhooks of the bundled Worker, whose alarms run by themselves, with a check of the signature that shares no code with it. */

const receivedAt = async (path: string): Promise<Received[]> => {
  const response = await fetch(`${inject("receiver")}/control${path}`);
  return (await response.json()) as Received[];
};

it("a write through the SDK reaches the receiver, with a signature that Standard Webhooks defines", async () => {
  const { op, vault, canonical } = await freshVault();
  const path = `/${canonical}`;
  const webhook = await admin("POST", `vaults/${canonical}/webhooks`, { url: inject("receiver") + path });
  const { secret } = webhook as unknown as { secret: string };
  await op.createItem(vault, login("Title"));
  const { headers, body } = await vi.waitFor(
    async () => {
      const [first] = await receivedAt(path);
      expect(first).toBeDefined();
      return first!;
    },
    { timeout: 120_000, interval: 50 },
  );
  expect(JSON.parse(body)).toMatchObject({ type: "item.created", data: { vault: { id: canonical }, sequence: 2 } });
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(content).digest("base64")}`);
});
