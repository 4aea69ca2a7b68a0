import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import type { Operation } from "../../src/model/operation.ts";
import {
  coordinatorsWhose,
  type Hooks,
  rebindCoordinator,
  recordOperations,
  renewCoordinator,
  wrapDatabase,
} from "../support/bindings.ts";
import { holdCommits, inOneGroup } from "../support/group.ts";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";
import { kindOf } from "../support/versions.ts";

/** Group commits: operations that share a commit do not affect each other (docs/consistency.md, A write). */

let call: Client;
let vault: string;
let items: string;

beforeEach(async () => {
  ({ vault, items, call } = await freshVault());
});

const d1Error = new Error("D1_ERROR: Network connection lost.");

/** Runs the requests so that all share one commit, after that of another request. In: the hooks of the coordinator's D1. */
const together = async (hooks: Hooks, ...requests: readonly (() => Promise<Reply>)[]): Promise<readonly Reply[]> =>
  (await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), requests, hooks)).others;

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);

/** The hooks of a D1 that refuses every commit and serves snapshots. */
const REFUSE_COMMITS: Hooks = {
  rewrite: (sql) => (sql.includes("INSERT INTO activity") ? "SELECT no_such_column" : sql),
};

describe("a group whose commit always fails", () => {
  it("acknowledges none of its operations, also not a repeated write and an empty PATCH that follow the failed ones", async () => {
    const { body: item } = await call("POST", items, { body: LOGIN });
    const headers = { "Idempotency-Key": "same" };
    const replies = await together(
      REFUSE_COMMITS,
      () => call("POST", items, { body: LOGIN, headers }),
      () => call("POST", items, { body: LOGIN, headers }),
      () => call("PATCH", `${items}/${item.id}`, { body: [{ op: "replace", path: "/title", value: "never" }] }),
      () => call("PATCH", `${items}/${item.id}`, { body: [] }),
    );
    expect(statuses(replies)).toEqual([500, 500, 500, 500]);
    await rebindCoordinator(vault, { DB: env.DB });
    expect((await call("GET", items)).body).toMatchObject([{ id: item.id, title: "Login", version: 1 }]);
  });
});

/** A namespace whose stubs send each operation twice, concurrently. */
const doubled = coordinatorsWhose((stub) => ({
  write: async (operation: Operation) => (await Promise.all([stub.write(operation), stub.write(operation)]))[1],
}));

describe("one operation that arrives twice in a group", () => {
  it("takes effect once, is answered both times, and does not affect other operations", async () => {
    const { waiting, arrived, release } = await holdCommits(vault);
    const first = call("POST", items, { body: LOGIN });
    await waiting();
    const group = [
      call("POST", items, { body: { ...LOGIN, title: "Doubled" }, env: doubled }),
      call("POST", items, { body: { ...LOGIN, title: "Innocent" } }),
    ];
    await arrived(4);
    release();
    expect((await Promise.all([first, ...group])).map((reply) => reply.status)).toEqual([200, 200, 200]);
    const titles = (await call("GET", items)).body.map((item: { title: string }) => item.title);
    expect(titles.toSorted()).toEqual(["Doubled", "Innocent", "Login"]);
  });
});

describe("an operation that is already in the activity log", () => {
  it("gets its answer, although the commits of its group fail and the last read fails", async () => {
    const { COORDINATOR, sent } = recordOperations(env.COORDINATOR);
    await call("POST", items, { body: LOGIN, env: { COORDINATOR } });
    const first = sent();
    const operation = (change: Operation["change"]): Operation => ({
      ...first,
      id: operationId(Date.now(), crypto.getRandomValues(new Uint8Array(10))),
      change,
    });
    const item = crypto.randomUUID();
    // The first operation names no Item and reads once. The other two form a group.
    const group = [operation({ ...first.change, item } as Operation["change"]), first];
    // Then each commit fails, and the last read fails.
    let [calls, isCommit] = [0, false];
    const rewrite = (sql: string) => {
      isCommit ||= sql.includes("INSERT INTO activity");
      return sql;
    };
    const before = () => {
      calls++;
      if (calls === 13) throw d1Error;
      if (isCommit) throw ((isCommit = false), new Error("D1_ERROR: NOT NULL constraint failed: activity.vault_id"));
    };
    await renewCoordinator(vault, {});
    const [earlier, ...rest] = [operation({ kind: "delete-item", item }), ...group].map(
      (one) => () => env.COORDINATOR.getByName(vault).write(one).then(kindOf),
    );
    const answers = await inOneGroup(vault, earlier!, rest, { before, rewrite });
    expect(answers).toEqual({ first: "item_not_found", others: ["unavailable", undefined] });
    expect(calls).toBe(13);
  });
});

describe("the deletion of a vault", () => {
  it("deletes its idempotency records: a repeated write in the same group is answered 404", async () => {
    const headers = { "Idempotency-Key": "again" };
    await call("POST", items, { body: LOGIN, headers });
    const replies = await together(
      {},
      () => admin("DELETE", `/v1/admin/vaults/${vault}`),
      () => call("POST", items, { body: LOGIN, headers }),
    );
    expect(statuses(replies)).toEqual([204, 404]);
  });
});

describe("an Item that does not open", () => {
  it("can be deleted without If-Match, and the list is then served again", async () => {
    const { body: item } = await call("POST", items, { body: LOGIN });
    await env.DB.prepare("UPDATE items SET overview = details WHERE id = ?").bind(item.id).run();
    await renewCoordinator(vault, {});
    expect((await call("DELETE", `${items}/${item.id}`, { headers: { "If-Match": '"1"' } })).status).toBe(500);
    expect((await call("DELETE", `${items}/${item.id}`)).status).toBe(204);
    expect((await call("GET", items)).body).toEqual([]);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(0);
  });
});

/** A commit holds at most 32 operations, and at most 4 MiB of their bodies. */

const MIB = 1024 * 1024;

it.each<[string, number, number[]]>([
  ["has at most 4 MiB of bodies: 12 bodies of 1 MiB take four commits", MIB, [1, 4, 4, 4]],
  ["has as many small writes as before: 12 take two commits", 1024, [1, 12]],
])("a group of writes %s", async (_, size, expected) => {
  await call("POST", items, { body: LOGIN });
  const created: number[] = [];
  // A commit that creates n Items has n statements beside those of the log and the vault.
  const before = (statements: number) => void created.push(statements - 2);
  const body = JSON.stringify(LOGIN).padEnd(size, " ");
  const create = () => call("POST", items, { body });
  const replies = await together({ before }, ...Array(12).fill(create));
  expect(new Set(statuses(replies))).toEqual(new Set([200]));
  expect(created).toEqual(expected);
});

/** A namespace that replaces the change of each operation whose Item has the title `poison`. */
const poison = (change: (operation: Operation) => object): Partial<Env> =>
  coordinatorsWhose((real) => ({
    write: (operation: Operation) =>
      real.write((JSON.stringify(operation.change).includes("poison") ? change(operation) : operation) as Operation),
  }));

/** Sends five creations that share one group, the third with the title `poison`. */
const createTogether = (bindings: Partial<Env>): Promise<readonly Reply[]> =>
  together(
    {},
    ...["one", "two", "poison", "four", "five"].map(
      (title) => () => call("POST", items, { body: { ...LOGIN, title }, env: bindings }),
    ),
  );

describe("a group with one operation that fails", () => {
  it("carries out the others when the operation throws", async () => {
    const bindings = poison((operation) => ({
      ...operation,
      change: { kind: "create-item", item: crypto.randomUUID(), input: null },
    }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 500, 200, 200]);
    expect((await call("GET", items)).body).toHaveLength(5);
  });

  it("carries out the others when the operation has a kind that this release does not know", async () => {
    const bindings = poison((operation) => ({ ...operation, change: { kind: "of-a-newer-release" } }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 503, 200, 200]);
    expect(replies[2]!.headers.get("Item-Vault-Error")).toBe("version_skew");
  });

  it("carries out the others when the rows of the operation cannot be sealed", async () => {
    const bindings = poison((operation) => ({ ...operation, change: { ...operation.change, item: "x".repeat(3_000_000) } }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 500, 200, 200]);
    expect((await call("GET", items)).body).toHaveLength(5);
  });
});

describe("an overloaded D1", () => {
  it("gets one try of a write, not twelve; the answer has Retry-After", async () => {
    await call("POST", items, { body: LOGIN });
    let calls = 0;
    const before = () => {
      calls++;
      throw new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.");
    };
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
    const reply = await call("POST", items, { body: LOGIN });
    expect([reply.status, reply.headers.get("Item-Vault-Error"), calls]).toEqual([503, "unavailable", 1]);
    expect(reply.headers.get("Retry-After")).not.toBeNull();
  });
});
