import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { isLong } from "../support/runs.ts";
import { itemOf, makeVault, newDirectory, type Reply, send, type Server, startServer } from "./support/server.ts";

const KILLS = isLong ? 50 : 4;
const WRITERS = 12;

/** A write, sent again with the same Idempotency-Key until it is answered. */
interface Write {
  readonly title: string;
  readonly key: string;
}

it(`a server that is killed under ${WRITERS} writers has each acknowledged write exactly once`, async () => {
  const data = newDirectory();
  let server = await startServer(data);
  const { vault, token, admin } = await makeVault(server);
  const open: (Write | undefined)[] = Array.from({ length: WRITERS }, () => undefined);
  const acknowledged = new Set<string>();

  async function writeUntilKilled(writer: number, { url }: Server): Promise<void> {
    for (;;) {
      const write = (open[writer] ??= { title: randomUUID(), key: randomUUID() });
      const reply = await post(url, write).catch(() => undefined);
      if (reply === undefined) return; // the server was killed
      expect(reply).toMatchObject({ status: 200 });
      acknowledged.add(write.title);
      open[writer] = undefined;
    }
  }

  async function post(url: string, { title, key }: Write): Promise<Reply> {
    const response = await fetch(`${url}/v1/vaults/${vault}/items`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify(itemOf(vault, title)),
    });
    return { status: response.status, body: await response.json() };
  }

  for (let kills = 0; kills < KILLS; kills++) {
    const before = acknowledged.size;
    const writers = open.map((_, writer) => writeUntilKilled(writer, server));
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20 + 13 * (kills % 5));
    await server.end("SIGKILL");
    await Promise.all(writers);
    server = await startServer(data);
  }
  for (const write of open) if (write && (await post(server.url, write)).status === 200) acknowledged.add(write.title);

  const { body: items } = await send(server.url, token, "GET", `/v1/vaults/${vault}/items`);
  const titles = (items as { title: string }[]).map(({ title }) => title);
  expect(titles.toSorted()).toEqual([...acknowledged].toSorted());
  const started = await send(server.url, admin, "POST", "/v1/admin/jobs", { kind: "verify" });
  const { body: job } = await send(server.url, admin, "GET", `/v1/admin/jobs/${started.body.id}?wait=30`);
  expect(job).toMatchObject({ state: "done", findings: [] });
  await server.end();
});
