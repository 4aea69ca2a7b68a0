import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { createD1 } from "../../packages/host/src/database.ts";
import { createObjects, type ObjectClass } from "../../packages/host/src/objects.ts";
import { openSqliteFile, type SqliteFile } from "../../packages/host/src/sqlite-file.ts";
import { createTurns } from "../../packages/host/src/turns.ts";
import { createAcceptedSockets, LocalSocketPair } from "../../packages/host/src/web-sockets.ts";
import { COORDINATOR_MIGRATIONS, OPERATOR_MIGRATIONS } from "../../src/store/d1/object-schema.ts";

/** The rules of Durable Objects that the service relies on (docs/design/host.md). */

const files: SqliteFile[] = [];
const stops: (() => void)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) stop();
  for (const file of files.splice(0)) await file.close();
});

const newPath = (): string => join(mkdtempSync(join(tmpdir(), "objects-")), "item-vault.db");

/** Opens a file as a process does at its start. */
function open(create: ObjectClass, path = newPath()) {
  const file = openSqliteFile({ path, fail: (error) => expect.unreachable(error.message) });
  files.push(file);
  const turns = createTurns(file);
  const errors: unknown[] = [];
  const bindings: { current: Record<string, unknown> } = { current: {} };
  const objects = createObjects(
    turns,
    () => bindings.current,
    (_, error) => errors.push(error),
  );
  stops.push(objects.stop);
  const namespace = objects.namespace("Probe", create) as unknown as { getByName: (name: string) => any };
  return { file, turns, objects, get: namespace.getByName, errors, path, bindings };
}

/** An object with a table of numbers. */
class Probe {
  readonly storage: DurableObjectStorage;
  readonly alarms: string[] = [];

  constructor({ storage }: DurableObjectState) {
    this.storage = storage;
    storage.sql.exec("CREATE TABLE IF NOT EXISTS numbers (number INTEGER NOT NULL PRIMARY KEY, note TEXT) STRICT");
  }

  async add(number: number, note = "") {
    this.storage.sql.exec("INSERT INTO numbers (number, note) VALUES (?1, ?2)", number, note);
  }

  async list() {
    return this.storage.sql.exec("SELECT number, note FROM numbers WHERE note <> 'numbers' ORDER BY numbers.number").toArray();
  }

  async setAlarm(time: number) {
    await this.storage.setAlarm(time);
  }

  async getAlarm() {
    return this.storage.getAlarm();
  }

  async alarm(): Promise<void> {}
}

it("the objects of two names have tables of their own", async () => {
  const { get } = open(Probe);
  await get("a").add(1, "of a");
  await get("b").add(1, "of b");
  expect([await get("a").list(), await get("b").list()]).toEqual([
    [expect.objectContaining({ number: 1, note: "of a" })],
    [expect.objectContaining({ number: 1, note: "of b" })],
  ]);
});

it("a text in quotes that is the name of a table stays as it is", async () => {
  const { get } = open(Probe);
  await get("a").add(1, "numbers");
  expect(await get("a").list()).toEqual([]);
});

it.each([
  ["the operator", OPERATOR_MIGRATIONS],
  ["a coordinator", COORDINATOR_MIGRATIONS],
])("no column of %s has the name of one of its tables", (_, migrations) => {
  const sql = migrations.join("\n");
  const tables = Array.from(sql.matchAll(/CREATE TABLE (\w+)/g), ([, name]) => name!);
  const others = sql.replaceAll(/CREATE TABLE \w+/g, "");
  expect(tables.filter((name) => new RegExp(`\\b${name}\\b`).test(others))).toEqual([]);
});

it("an object that was evicted finds what it has written, in the same process and in the next one", async () => {
  const { get, objects, path, file } = open(Probe);
  await get("a").add(7);
  objects.evict(0);
  expect(await get("a").list()).toHaveLength(1);
  files.splice(files.indexOf(file), 1);
  await file.close();
  expect(await open(Probe, path).get("a").list()).toHaveLength(1);
});

it("what an object writes between two awaits is one transaction: its call fails if the transaction does", async () => {
  class Writer extends Probe {
    constructor(state: DurableObjectState) {
      super(state);
      this.storage.sql.exec(
        "CREATE TABLE IF NOT EXISTS parts (whole INTEGER REFERENCES numbers (number) DEFERRABLE INITIALLY DEFERRED) STRICT",
      );
    }

    async addBoth(number: number, whole: number) {
      this.storage.sql.exec("INSERT INTO numbers (number, note) VALUES (?1, '')", number);
      this.storage.sql.exec("INSERT INTO parts (whole) VALUES (?1)", whole);
    }
  }
  const { get } = open(Writer);
  await get("a").addBoth(1, 1);
  await expect(get("a").addBoth(2, 3)).rejects.toThrow("FOREIGN KEY constraint failed");
  expect(await get("a").list()).toEqual([expect.objectContaining({ number: 1 })]);
});

it("a write after a statement that rolled the transaction back is part of no transaction that was acknowledged", async () => {
  class Writer extends Probe {
    async addAll() {
      this.storage.sql.exec("INSERT INTO numbers (number, note) VALUES (1, '')");
      try {
        this.storage.sql.exec("INSERT OR ROLLBACK INTO numbers (number, note) VALUES (1, '')");
      } catch {
        this.storage.sql.exec("INSERT INTO numbers (number, note) VALUES (2, '')");
      }
    }
  }
  const { get } = open(Writer);
  await expect(get("a").addAll()).rejects.toThrow("UNIQUE constraint failed");
  expect(await get("a").list()).toEqual([]);
});

it("a call of an instance that ends is rejected, and the next call has a new instance", async () => {
  class Slow extends Probe {
    async wait() {
      await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    }
  }
  const { get, objects } = open(Slow);
  const waiting = get("a").wait() as Promise<void>;
  waiting.catch(() => undefined);
  await get("a").list();
  objects.evict(0); // only what is idle
  await get("a").add(1);
  expect(await get("a").list()).toHaveLength(1);
});

it("an object that aborts itself answers none of its calls, and the next call has a new instance", async () => {
  class Aborting extends Probe {
    readonly #state: DurableObjectState;

    constructor(state: DurableObjectState) {
      super(state);
      this.#state = state;
    }

    async wait() {
      await new Promise(() => undefined);
    }

    async abort() {
      this.#state.abort("the reason");
    }
  }
  const { get } = open(Aborting);
  const calls = Promise.allSettled([get("a").wait(), get("a").abort()]);
  expect(await calls).toEqual(Array.from({ length: 2 }, () => ({ status: "rejected", reason: new Error("the reason") })));
  await get("a").add(1);
  expect(await get("a").list()).toHaveLength(1);
});

it("the alarm is none while its handler runs, and the handler does not run beside itself", async () => {
  const log: unknown[] = [];
  const release = Promise.withResolvers<void>();
  class Ringing extends Probe {
    override async alarm() {
      log.push("begins", await this.storage.getAlarm());
      await release.promise;
      log.push("ends");
    }
  }
  const { get } = open(Ringing);
  await get("a").setAlarm(Date.now());
  await expect.poll(() => log).toEqual(["begins", null]);
  await get("a").setAlarm(Date.now());
  expect(await get("a").getAlarm()).toEqual(expect.any(Number));
  await get("a").list();
  expect(log).toEqual(["begins", null]);
  release.resolve();
  await expect.poll(() => log).toEqual(["begins", null, "ends", "begins", null, "ends"]);
});

it("an alarm whose handler has not ended runs again in the next process", async () => {
  let runs = 0;
  class Dying extends Probe {
    override async alarm() {
      runs++;
      await new Promise(() => undefined);
    }
  }
  const { get, path } = open(Dying);
  await get("a").setAlarm(Date.now());
  await expect.poll(() => runs).toBe(1);
  open(Dying, path).objects.start();
  await expect.poll(() => runs).toBe(2);
});

it("an alarm that throws is tried again six times, and then no more", async () => {
  let runs = 0;
  class Failing extends Probe {
    override async alarm() {
      runs++;
      throw new Error("it fails");
    }
  }
  const { get, errors } = open(Failing);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  await get("a").setAlarm(Date.now());
  for (let tries = 0; tries < 20; tries++) {
    await vi.advanceTimersByTimeAsync(70_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([runs, errors.length, await get("a").getAlarm()]).toEqual([7, 7, null]);
});

it("an alarm waits before it runs again, also if the transaction failed in which its handler set another one", async () => {
  let runs = 0;
  class Failing extends Probe {
    constructor(state: DurableObjectState) {
      super(state);
      this.storage.sql.exec(
        "CREATE TABLE IF NOT EXISTS parts (whole INTEGER REFERENCES numbers (number) DEFERRABLE INITIALLY DEFERRED) STRICT",
      );
    }

    override async alarm() {
      runs++;
      this.storage.sql.exec("INSERT INTO parts (whole) VALUES (77)");
      await this.storage.setAlarm(Date.now());
    }
  }
  const { get, errors } = open(Failing);
  await get("a").setAlarm(Date.now());
  await expect.poll(() => errors.length).toBe(1);
  for (let turns = 0; turns < 50; turns++) await get("a").list();
  expect(runs).toBe(1);
});

it("an instance that is in use has new bindings in its next call", async () => {
  class Reader extends Probe {
    readonly env: unknown;
    constructor(state: DurableObjectState, env: unknown) {
      super(state);
      this.env = env;
    }
    async read() {
      return this.env;
    }
    async wait(released: Promise<void>) {
      await released;
    }
  }
  const { get, objects, bindings } = open(Reader);
  const released = Promise.withResolvers<void>();
  const waiting = get("a").wait(released.promise);
  expect(await get("a").read()).toEqual({});
  bindings.current = { KEY: "new" };
  objects.renewBindings();
  expect(await get("a").read()).toEqual({ KEY: "new" });
  released.resolve();
  await waiting;
});

it("a socket that its Worker has closed is none of the object's any more", async () => {
  const pair = new LocalSocketPair();
  const sockets = createAcceptedSockets();
  sockets.accept(pair[1]);
  expect(sockets.list()).toHaveLength(1);
  pair[0].close(1000);
  await expect.poll(() => sockets.list()).toEqual([]);
});

it("a number that is too large for JavaScript is rounded, and takes no other row with it", async () => {
  const { get, turns } = open(Probe);
  const db = createD1(turns);
  await db.batch([
    db.prepare("CREATE TABLE large (number INTEGER)"),
    db.prepare("INSERT INTO large VALUES (9007199254740993), (1)"),
  ]);
  const rows = [{ number: 9007199254740992 }, { number: 1 }];
  expect((await db.prepare("SELECT number FROM large ORDER BY rowid").all()).results).toEqual(rows);
  class Large extends Probe {
    async numbers() {
      return this.storage.sql.exec("SELECT 9007199254740993 AS number").toArray();
    }
  }
  expect(await open(Large).get("a").numbers()).toEqual([{ number: 9007199254740992 }]);
  await get("a").list();
});

it("rows that are deleted make the database smaller at once, as on D1", async () => {
  const { turns } = open(Probe);
  const db = createD1(turns);
  const sizeAfter = async (sql: string) => (await db.prepare(sql).run()).meta.size_after;
  await db.prepare("CREATE TABLE blobs (text TEXT)").run();
  const filled = await sizeAfter(
    "INSERT INTO blobs SELECT hex(zeroblob(2000)) FROM generate_series(1, 500)".replace(
      "generate_series(1, 500)",
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n)",
    ),
  );
  expect(await sizeAfter("DELETE FROM blobs")).toBeLessThan(filled / 4);
});

it("a file closes beside writers without the loss of what they wrote", async () => {
  const { file, turns, path } = open(Probe);
  const db = createD1(turns);
  await db.prepare("CREATE TABLE late (number INTEGER)").run();
  let written = 0;
  const write = async () => {
    for (;;) {
      await db.prepare("INSERT INTO late VALUES (1)").run();
      written++;
    }
  };
  const writing = write().catch((error: Error) => error);
  files.splice(files.indexOf(file), 1);
  await file.close();
  expect(String(await writing)).toContain("D1_ERROR");
  const { file: again } = open(Probe, path);
  expect(again.db.prepare("SELECT count(*) AS count FROM late").get()).toEqual(expect.objectContaining({ count: written }));
});

it("no event comes between an object that reads its alarm and the same object that sets it", async () => {
  const log: string[] = [];
  class Gated extends Probe {
    async readAndSet(db: D1Database, name: string) {
      await db.batch([db.prepare("SELECT 1")]);
      log.push(`${name} reads`);
      await this.storage.getAlarm();
      await this.storage.getAlarm();
      await this.storage.setAlarm(Date.now() + 60_000);
      log.push(`${name} sets`);
    }
  }
  const { get, turns } = open(Gated);
  const db = createD1(turns);
  await Promise.all(["a", "b", "c", "d"].map((name) => get("one").readAndSet(db, name)));
  expect(log).toEqual(["a", "b", "c", "d"].flatMap((name) => [`${name} reads`, `${name} sets`]));
});
