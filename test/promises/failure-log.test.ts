import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OperationId, OPERATIONS } from "../../src/api/operations.ts";
import { createChannel } from "../../src/http/events/hub.ts";
import { checkAll, readChannel } from "../../src/http/events/reads.ts";
import { causeOf } from "../../src/log.ts";
import { defect } from "../../src/model/result.ts";
import { DAY } from "../../src/model/time.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { consumeMessages, type FlushMessage } from "../../src/store/activity/flush.ts";
import { openStore, type Store } from "../../src/store/d1/database.ts";
import { recordDamage } from "../../src/store/health/damages.ts";
import { explainFailure } from "../../src/store/keys/root-keys.ts";
import { rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { canary, captureLog, found, words } from "../support/canary.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";
import { until } from "../support/waits.ts";
import { exchange, makeWorkload } from "../support/workloads.ts";

/** Each failure of the service is one line of JSON, which names the request, the operation, the error and its place, and quotes no input. */

const lines = captureLog();
let first = 0;
beforeEach(() => {
  first = lines.length;
});
afterEach(() => vi.restoreAllMocks());

/** The lines of requests of the current test, parsed. Work of an earlier file may log others. */
const logged = (...replies: readonly Reply[]): any[] => {
  const ids = replies.map(({ headers }) => headers.get("Request-Id")!);
  return lines.slice(first).flatMap((line) => (ids.some((id) => line.includes(id)) ? [JSON.parse(line)] : []));
};
const failingD1 = (message: string) => wrapDatabase(env.DB, { before: () => Promise.reject(new Error(message)) });
const throwingD1 = (message: string) =>
  new Proxy(env.DB, {
    get: () => () => {
      throw new TypeError(message);
    },
  });

describe("a failure is one line with its request", () => {
  it("when D1 fails in a read: the line has D1's message and the function that read", async () => {
    const { items, call } = await freshVault();
    const reply = await call("GET", items, { env: { DB: failingD1("D1_ERROR: Network connection lost.") } });
    expect(reply.status).toBe(503);
    expect(logged(reply)).toEqual([
      {
        request: reply.headers.get("Request-Id"),
        operation: "listItems",
        kind: "unavailable",
        what: "A D1 call",
        class: "Error",
        message: "D1_ERROR: Network connection lost.",
        frames: expect.arrayContaining([expect.stringMatching(/src\/store\/(?!d1)/)]),
      },
    ]);
  });

  it("when code of the Worker throws: the line has no message", async () => {
    const { items, call } = await freshVault();
    const reply = await call("GET", items, { env: { DB: throwingD1("a bug") } });
    expect(reply.status).toBe(500);
    expect(logged(reply)).toEqual([
      expect.objectContaining({
        request: reply.headers.get("Request-Id"),
        operation: "listItems",
        kind: "internal",
        class: "TypeError",
      }),
    ]);
    expect(logged(reply)[0]).not.toHaveProperty("message");
    expect(logged(reply)[0].frames[0]).toContain("failure-log.test.ts");
  });

  it.each([
    ["code throws", () => throwingD1("a bug"), 500, "internal", "TypeError"],
    ["D1 refuses the SQL", () => failingD1('D1_ERROR: near "x": syntax error: SQLITE_ERROR'), 500, "internal", "Error"],
    ["D1 is overloaded", () => failingD1("D1_ERROR: D1 DB is overloaded."), 503, "unavailable", "Error"],
  ])("when a coordinator fails because %s", async (_, DB, status, kind, name) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await rebindCoordinator(vault, { DB: DB() });
    const reply = await call("PUT", `${items}/${id}`, { body: { ...LOGIN, vault: { id: vault } } });
    await rebindCoordinator(vault, { DB: env.DB });
    expect(reply.status).toBe(status);
    const request = reply.headers.get("Request-Id");
    expect(logged(reply)).toEqual([expect.objectContaining({ request, operation: "replaceItem", kind, class: name })]);
  });

  it("a refusal that is the client's fault is no line", async () => {
    const { items, call } = await freshVault();
    const replies = [await call("GET", `${items}/${"a".repeat(26)}`), await call("POST", items, { body: "{" })];
    expect(replies.map(({ status }) => status)).toEqual([404, 400]);
    expect(logged(...replies)).toEqual([]);
  });
});

/** SQL for a table that no migration was applied for. */
const withPendingMigration = (sql: string) =>
  sql
    .replace("LEFT JOIN vaults", "LEFT JOIN no_such_table AS vaults")
    .replace(/SELECT max\(.* FROM d1_migrations/s, "SELECT 0 AS version");

describe("statements that D1 refuses on every try", () => {
  it.each([
    ["a column that does not exist", "D1_ERROR: no such column: titel at offset 7: SQLITE_ERROR"],
    ["a table that does not exist", "D1_ERROR: no such table: itmes: SQLITE_ERROR"],
    ["a syntax error", 'D1_ERROR: near "SELEC": syntax error at offset 0: SQLITE_ERROR'],
    ["a constraint", "D1_ERROR: UNIQUE constraint failed: damages.vault_id: SQLITE_CONSTRAINT"],
    ["a value that is too long", "D1_ERROR: string or blob too big: SQLITE_TOOBIG"],
    ["a value of no type", "D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'"],
  ])("are a 500, which asks for no further try: %s", async (_, message) => {
    const { items, call } = await freshVault();
    let fails = true;
    const before = () => {
      if (fails) throw ((fails = false), new Error(message));
    };
    const reply = await call("GET", items, { env: { DB: wrapDatabase(env.DB, { before }) } });
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([500, null]);
  });

  it("are a 503 `schema` while a migration is pending", async () => {
    const { items, call } = await freshVault();
    const reply = await call("GET", items, { env: { DB: wrapDatabase(env.DB, { rewrite: withPendingMigration }) } });
    expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([503, "schema"]);
  });
});

describe("the description of an error", () => {
  const FRAME = "\n    at secret (secret.js:1:1)";

  it.each([
    ["a syntax error of JSON", new SyntaxError(`Unexpected token${FRAME}`)],
    ["an error without a message", Object.assign(new Error(""), { extra: "secret" })],
    ["an error whose message was changed", Object.assign(new Error(`a${FRAME}`), { message: "b" })],
    ["a text", "secret"],
    ["an object", { message: "secret", stack: FRAME }],
    ["an error of a library that quotes D1", new Error(`not D1_ERROR: ${FRAME}`)],
  ])("has nothing of its message: %s", (_, error) => {
    expect(JSON.stringify(causeOf("A test", error))).not.toContain("secret");
  });

  it("has the frames of the error", () => {
    expect(causeOf("A test", new Error(`x${FRAME}`)).frames[0]).toContain("failure-log.test.ts");
  });

  it("has the message of our own errors, and the cause of the failure that was thrown", () => {
    expect(causeOf("A test", defect("our words"))).toMatchObject({ class: "Error", message: "our words" });
    const origin = causeOf("A D1 call", new Error("D1_ERROR: lost"));
    expect(causeOf("A test", defect("could not read", origin))).toEqual({ ...origin, what: "A test: could not read" });
  });
});

const filterOfCanaries = () => `filter=${encodeURIComponent(`title eq "${canary()}"`)}&${canary()}=${canary()}&name=${canary()}`;
const headersOfCanaries = () => ({ "Content-Length": "9", "Idempotency-Key": canary(), "If-Match": canary() });

describe("no line has what a client sent", () => {
  const ids = Object.keys(OPERATIONS) as OperationId[];
  let clients: readonly Client[];
  let vault: string;
  beforeEach(async () => {
    vault = await makeVault();
    clients = [admin, client((await makeToken({ [vault]: "rwd" })).token)];
  });

  /** Sends a canary as each part of a request to an operation. */
  async function sendCanaries(id: OperationId, bindings: () => Partial<Env>): Promise<Reply[]> {
    const { method, path } = OPERATIONS[id];
    const known = path.replaceAll(":vault", vault).replaceAll(/:\w+/g, () => crypto.randomUUID());
    const unknown = path.replaceAll(/:\w+/g, () => canary());
    const body = () => (method === "GET" ? {} : { body: `\n    at ${canary()} ${canary()}` });
    const paths = [`${known}?${filterOfCanaries()}`, `${unknown}?${filterOfCanaries()}`, `${known}/${canary()}`];
    const replies: Reply[] = [];
    const undocumented = "every operation gets canaries, whatever it takes";
    for (const call of clients)
      for (const one of paths)
        replies.push(await call(method, one, { ...body(), headers: headersOfCanaries(), env: bindings(), undocumented }));
    return replies;
  }

  it.each(ids)(
    "to %s: as a body that is no JSON, as a filter and as a path, while D1 fails and while code throws",
    async (id) => {
      // Operations without a guard have no 500 in the document.
      if ("action" in OPERATIONS[id]) await sendCanaries(id, () => ({ DB: throwingD1(`a bug that quotes\n    at ${canary()}`) }));
      await sendCanaries(id, () => ({ DB: failingD1("D1_ERROR: Network connection lost.") }));
      await sendCanaries(id, () => ({}));
      expect(words.length).toBeGreaterThan(20);
      expect(found(lines.slice(first).join("\n"))).toEqual([]);
    },
  );

  it("and these requests do fail: each line names a request and its operation", async () => {
    const replies = await sendCanaries("getItem", () => ({ DB: throwingD1("a bug") }));
    const failed = replies.filter(({ status }) => status === 500);
    expect(failed.length).toBeGreaterThan(0);
    expect(logged(...replies).map(({ request, operation }) => [request, operation])).toEqual(
      failed.map(({ headers }) => [headers.get("Request-Id"), "getItem"]),
    );
  });
});

/** Work that no request is answered with: a failure of it is one line of the log, too. */

const quote = () => Promise.reject(new TypeError("a value"));
const startOverloaded = () => Promise.reject(Object.assign(new Error("the operator is down"), { overloaded: true }));
const fail = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));

const loggedSince = (from: number): readonly any[] => lines.slice(from).map((line) => JSON.parse(line));

/** The lines that some work logs, parsed. */
async function loggedBy(work: () => Promise<unknown>): Promise<readonly any[]> {
  const from = lines.length;
  await work();
  return loggedSince(from);
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
    expect(await loggedBy(() => work(opened.value))).toMatchObject([OUTAGE]);
  });

  it("the record of a workload token that was refused logs one line", async () => {
    const workload = await makeWorkload();
    let isRecord = false;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => ((isRecord ||= sql.includes("INTO exchanges")), sql),
      before: () => (isRecord ? fail() : undefined),
    });
    const work = async () => expect((await exchange(await workload.token(), {}, { env: { DB } })).status).toBe(401);
    expect(await loggedBy(work)).toMatchObject([OUTAGE]);
  });
});

it("a deletion of a vault whose job does not start logs one line", async () => {
  const vault = await makeVault();
  await rebindCoordinator(vault, { OPERATOR: { getByName: () => ({ start: startOverloaded }) } as unknown as Env["OPERATOR"] });
  const from = lines.length;
  expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
  await until(() => lines.length > from);
  expect(loggedSince(from)).toMatchObject([{ kind: "unavailable" }]);
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
