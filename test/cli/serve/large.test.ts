import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { seeded } from "../../support/seeded.ts";
import { newFolder } from "../support/files.ts";
import { VAULT, startLargeService } from "../support/large-service.ts";
import { copyStatus, get, PATIENT, startServe } from "../support/serve.ts";

/** `serve` with a large copy: how it starts, what it takes, and what a kill leaves. LONG_RUN=1 has 10,000 Items, and prints the figures. */

const isLong = process.env["LONG_RUN"] === "1";
const ITEMS = isLong ? 10_000 : 250;
const KILLS = isLong ? 40 : 2;
const READS = isLong ? 5_000 : 200;
const TOKEN = "token-of-the-large-service";

const quantile = (sorted: readonly number[], part: number): string => sorted[Math.floor(sorted.length * part)]!.toFixed(2);

const residentOf = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

it(`a copy of ${ITEMS} Items is read from disk when the service is gone, and answers reads and lists`, async () => {
  const service = await startLargeService(ITEMS);
  const folder = newFolder();
  const filling = performance.now();
  const first = await startServe({ token: TOKEN, host: service.url, folder, filled: false });
  await expect.poll(() => copyStatus(first.url), { timeout: 120_000, interval: 100 }).toBe("ACTIVE");
  const filled = performance.now() - filling;
  await expect.poll(() => existsSync(join(folder, "copy")), { timeout: 120_000 }).toBe(true);
  await first.stop("SIGTERM");
  service.close();
  const starting = performance.now();
  const second = await startServe({ token: TOKEN, host: service.url, folder });
  const started = performance.now() - starting;
  const times: number[] = [];
  const path = `${second.url}/v1/vaults/${VAULT}/items`;
  for (let at = 0; at < READS; at++) {
    const began = performance.now();
    const got = await get(`${path}/${service.itemIds[(at * 7919) % ITEMS]}`, TOKEN);
    times.push(performance.now() - began);
    expect(got.status).toBe(200);
  }
  const listing = performance.now();
  expect(JSON.parse((await get(path, TOKEN)).text)).toHaveLength(ITEMS);
  const listed = performance.now() - listing;
  times.sort((one, other) => one - other);
  console.log(
    `${ITEMS} Items: filled in ${(filled / 1000).toFixed(1)} s, started from disk in ${(started / 1000).toFixed(2)} s with the process, ${(started / filled).toFixed(2)} × the time of filling; ` +
      `file ${(statSync(join(folder, "copy")).size / 1e6).toFixed(1)} MB, resident ${residentOf(second.child.pid!).toFixed(0)} MB; ` +
      `a read p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms; a list of all ${listed.toFixed(0)} ms`,
  );
});

it("all Items are asked for again after a restore of the database, and only what has changed is read", async () => {
  const service = await startLargeService(50);
  const served = await startServe({ token: TOKEN, host: service.url });
  const changed = service.restore();
  const path = `${served.url}/v1/vaults/${VAULT}/items`;
  await expect.poll(async () => (await get(`${path}/${changed}`, TOKEN)).text, PATIENT).toContain('"version":2');
  const { text, age } = await get(path, TOKEN);
  expect((JSON.parse(text) as object[]).length).toBe(50);
  expect(age).toBeTypeOf("number");
});

it(`a kill while the copy is written leaves one that opens, ${KILLS} times`, async () => {
  const service = await startLargeService(ITEMS);
  const folder = newFolder();
  const options = { token: TOKEN, host: service.url, folder, args: ["--max-age", "10s"] };
  // Begins with a stored copy that is whole: one that is killed while it reads the vault for the first time has a part of it.
  const first = await startServe({ ...options, filled: false });
  await expect.poll(() => copyStatus(first.url), { timeout: 120_000, interval: 20 }).toBe("ACTIVE");
  await first.stop("SIGTERM");
  const random = seeded(1);
  let unfinished = 0;
  let written = 1;
  for (let kill = 0; kill < KILLS; kill++) {
    const served = await startServe({ ...options, filled: false });
    await expect.poll(() => copyStatus(served.url), { timeout: 120_000, interval: 20 }).toBe("ACTIVE");
    expect(served.output.stderr).not.toContain("damaged");
    const stopAt = performance.now() + 1100 + random() * 200;
    while (performance.now() < stopAt) {
      written = service.write();
      await sleep(5);
      if (existsSync(join(folder, "copy.new")) && random() < 0.5) break;
    }
    await served.stop("SIGKILL");
    if (existsSync(join(folder, "copy.new"))) unfinished++;
  }
  service.close();
  const last = await startServe({ ...options, args: [] });
  expect(last.output.stderr).not.toContain("damaged");
  const { text } = await get(`${last.url}/v1/vaults/${VAULT}/items/${service.itemIds[0]}`, TOKEN);
  expect((JSON.parse(text) as { version: number }).version).toBeLessThanOrEqual(written);
  console.log(`${KILLS} kills, ${unfinished} of them within a write of the copy`);
  expect(unfinished).toBeGreaterThan(isLong ? 5 : -1);
});
