import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { checkAll, readChannel } from "../../src/http/events/reads.ts";
import { createChannel } from "../../src/http/events/hub.ts";
import { consumeMessages, type FlushMessage } from "../../src/store/activity/flush.ts";
import { openStore, type Store } from "../../src/store/d1/database.ts";
import { recordDamage } from "../../src/store/health/damages.ts";
import { explainFailure } from "../../src/store/keys/root-keys.ts";
import { rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { captureLog } from "../support/canary.ts";
import { admin, makeVault } from "../support/service.ts";
import { DAY } from "../../src/model/time.ts";
import { until } from "../support/waits.ts";
import { exchange, makeWorkload } from "../support/workloads.ts";

/** Work that no request is answered with: a failure of it is one line of the log, too. */

const lines = captureLog();
const quote = () => Promise.reject(new TypeError("a value"));
const startOverloaded = () => Promise.reject(Object.assign(new Error("the operator is down"), { overloaded: true }));
const fail = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));

/** The lines that some work logs, parsed. */
async function logged(work: () => Promise<unknown>): Promise<readonly any[]> {
  const first = lines.length;
  await work();
  return lines.slice(first).map((line) => JSON.parse(line));
}

const OUTAGE = { kind: "unavailable", message: "D1_ERROR: Network connection lost." };

describe("while D1 fails", () => {
  it.each<[string, (store: Store) => Promise<unknown>]>([
    // An isolate records one read of damaged data in a minute: other files have recorded theirs.
    ["the check of root keys before a damage is recorded", (store) => recordDamage({ ...store, now: store.now + DAY })],
    [
      "the check of root keys after a token that did not verify",
      (store) => explainFailure({ ...store, keyring: { ...store.keyring } }),
    ],
    [
      "the reads for those who wait for events, which are repeated,",
      async (store) => {
        await checkAll(store);
        await readChannel(store, createChannel("one", { sequence: 0, at: 0 }, true));
        await checkAll(store);
      },
    ],
  ])("%s logs one line", async (_, work) => {
    const opened = await openStore({ ...env, DB: wrapDatabase(env.DB, { before: fail }) }, Date.now());
    if (!opened.ok) throw new Error(opened.failure.kind);
    expect(await logged(() => work(opened.value))).toMatchObject([OUTAGE]);
  });

  it("the record of a workload token that was refused logs one line", async () => {
    const workload = await makeWorkload();
    let isRecord = false;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => ((isRecord ||= sql.includes("INTO exchanges")), sql),
      before: () => (isRecord ? fail() : undefined),
    });
    const work = async () => expect((await exchange(await workload.token(), {}, { env: { DB } })).status).toBe(401);
    expect(await logged(work)).toMatchObject([OUTAGE]);
  });
});

it("a deletion of a vault whose job does not start logs one line", async () => {
  const vault = await makeVault();
  await rebindCoordinator(vault, { OPERATOR: { getByName: () => ({ start: startOverloaded }) } as unknown as Env["OPERATOR"] });
  const first = lines.length;
  expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
  await until(() => lines.length > first);
  expect(lines.slice(first).map((line) => JSON.parse(line))).toMatchObject([{ kind: "unavailable" }]);
});

describe("what ends with an error that the platform prints names no value", () => {
  it("the hourly run", async () => {
    const FILES = wrapBucket({ get: quote, list: quote });
    await expect(cleanUp({ ...env, FILES }, Date.now())).rejects.toThrow(/^The hourly run has failed$/);
  });

  it("the delivery of the queue", async () => {
    const body = Object.defineProperty({ rows: [] }, "handOvers", {
      get() {
        throw new TypeError("a value");
      },
    });
    const messages = [{ body, ack: () => undefined }] as unknown as Message<FlushMessage>[];
    await expect(consumeMessages(env, messages, Date.now())).rejects.toThrow(/^A message of the log has failed$/);
  });
});
