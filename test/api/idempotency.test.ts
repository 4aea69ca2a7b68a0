import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openText } from "../../src/crypto/vault-seal.ts";
import worker from "../../src/index.ts";
import { firstIdAt } from "../../src/model/ids.ts";
import { HOUR } from "../../src/model/time.ts";
import { deleteOldRecords, openRecord, type RecordRow, sealRecord } from "../../src/store/commit/idempotency.ts";
import { countingDatabase, KEEP_NOTHING, renewCoordinator, setVariables } from "../support/bindings.ts";
import { currentTag } from "../support/etags.ts";
import { inOneGroup } from "../support/group.ts";
import { keysIn } from "../support/seed.ts";
import { type Client, client, freshVault, LOGIN, makeToken, outcome } from "../support/service.ts";
import { unwrap } from "../support/versions.ts";

/**
 * `Idempotency-Key` of writes to Items (contract 10.7 to 10.12, 10.16) beside other writes. That a repeated request has one effect and one
 * answer, repeats.test.ts has for each operation. What a record holds, what it costs (docs/design/writes.md), and its lifetime: 24 hours
 * (contract 10.11).
 */

type Write = (body?: unknown, key?: string) => ReturnType<Client>;

/** A vault with one Item, each kind of write to it (`writes`) and the state that they can change (`readState`). */
async function makeTestVault() {
  const { vault, items, call } = await freshVault();
  const item = (await call("POST", items, { body: { ...LOGIN, tags: ["a"] } })).body;
  const path = `${items}/${item.id}`;
  const write =
    (method: string, target: string, defaultBody: unknown): Write =>
    (body = defaultBody, key = "key") =>
      call(method, target, { body, headers: { "Idempotency-Key": key } });
  const writes: Record<string, Write> = {
    POST: write("POST", items, { ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] }),
    PUT: write("PUT", path, { ...item, title: "Put", fields: [{ purpose: "PASSWORD", generate: true }] }),
    PATCH: write("PATCH", path, [{ op: "add", path: "/tags/-", value: "b" }]),
    DELETE: write("DELETE", path, undefined),
  };
  const readState = async () => ({
    vault: (await call("GET", `/v1/vaults/${vault}`)).body,
    items: (await call("GET", items)).body,
  });
  return { vault, items, path, call, item, writes, readState };
}

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
const answerOf = ({ status, text, headers }: Awaited<ReturnType<Client>>) => [status, text, headers.get("ETag")];

describe("a request that is repeated with its Idempotency-Key", () => {
  it.each(METHODS)("gets the first answer after later writes to other Items: %s", async (method) => {
    const { items, call, writes, readState } = await makeTestVault();
    const first = await writes[method]!();
    await call("POST", items, { body: LOGIN });
    const after = await readState();
    expect(answerOf(await writes[method]!())).toEqual(answerOf(first));
    expect(await readState()).toEqual(after);
  });

  it.each(["POST", "PUT", "PATCH"])(
    "gets the first answer after a later write to its Item and after its deletion, while that version is kept, and has no effect: %s",
    async (method) => {
      const { items, call, writes, readState } = await makeTestVault();
      const first = await writes[method]!();
      const path = `${items}/${first.body.id}`;
      for (const later of [
        () => call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Later" }] }),
        () => call("DELETE", path),
      ]) {
        await later();
        const after = await readState();
        expect(answerOf(await writes[method]!())).toEqual(answerOf(first));
        expect(await readState()).toEqual(after);
      }
    },
  );

  it.each(["POST", "PUT", "PATCH"].flatMap((method) => ["PATCH", "DELETE"].map((later) => [method, later] as const)))(
    "is a 409 `overtaken` when no version is kept, and has no effect: %s after a later %s of its Item",
    async (method, later) => {
      const { vault, items, call, writes, readState } = await makeTestVault();
      await setVariables(vault, KEEP_NOTHING);
      const { id } = (await writes[method]!()).body;
      const body = later === "PATCH" ? [{ op: "replace", path: "/title", value: "Later" }] : undefined;
      await call(later, `${items}/${id}`, { body });
      const after = await readState();
      const reply = await writes[method]!();
      expect([...outcome(reply), reply.headers.get("ETag")]).toEqual([409, "overtaken", null]);
      expect(await readState()).toEqual(after);
    },
  );

  it("gets a 500 `integrity` when its Item does not open, and has no effect", async () => {
    const { vault, item, writes } = await makeTestVault();
    await writes["PATCH"]!();
    await env.DB.prepare("UPDATE items SET overview = details WHERE vault_id = ?1 AND id = ?2").bind(vault, item.id).run();
    await renewCoordinator(vault, {});
    expect((await writes["PATCH"]!()).kind).toBe("integrity");
  });

  it.each(METHODS)("has one effect and one answer when its repetitions are in one group commit: %s", async (method) => {
    const { vault, items, call, writes, readState } = await makeTestVault();
    const repeated = Array.from({ length: 5 }, () => () => writes[method]!());
    const { first, others } = await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), repeated);
    expect(first.status).toBe(200);
    expect(new Set(others.map((reply) => JSON.stringify(answerOf(reply)))).size).toBe(1);
    expect((await readState()).vault).toMatchObject({ id: vault, contentVersion: 3 });
  });

  it("is answered although its If-Match names an older version by now", async () => {
    const { path, call } = await makeTestVault();
    const headers = { "If-Match": await currentTag(call, path), "Idempotency-Key": "key" };
    const request = { body: [{ op: "remove", path: "/tags" }], headers };
    const first = await call("PATCH", path, request);
    expect([first.status, answerOf(await call("PATCH", path, request))]).toEqual([200, answerOf(first)]);
  });

  it("may write the id of its Item in the other form", async () => {
    const { item, vault, path } = await makeTestVault();
    const clientWith = (dialect: "uuid" | "connect") => freshClient(vault, dialect);
    const short = (await (await clientWith("connect"))("GET", path)).body.id;
    const call = await clientWith("uuid");
    const remove = (id: string) => call("DELETE", path.replace(item.id, id), { headers: { "Idempotency-Key": "key" } });
    expect([(await remove(item.id)).status, (await remove(short)).status]).toEqual([204, 204]);
  });
});

/** The writes that change nothing: what makes the Item so, what is sent, and a write after which it would change the Item. */
const WITHOUT_CHANGE: readonly (readonly [name: string, before: string, sent: string, after: string])[] = [
  ["a restore of the current version", "POST /archive", "POST /versions/2/restore", "PATCH"],
  ["an archiving of an archived Item", "POST /archive", "POST /archive", "POST /unarchive"],
  ["an unarchiving of an Item that is not archived", "PATCH", "POST /unarchive", "POST /archive"],
  ["a PATCH without operations", "PATCH", "PATCH []", "PATCH"],
];

describe("a request that changes nothing, repeated with its Idempotency-Key after a write that it would undo", () => {
  it.each(WITHOUT_CHANGE)("gets the first answer and has no effect: %s", async (_, before, sent, after) => {
    const { path, call, readState } = await makeTestVault();
    const send = (request: string, headers: Record<string, string> = {}) => {
      const [method = "", rest = ""] = request.split(" ");
      const body = [{ op: "replace", path: "/title", value: crypto.randomUUID() }];
      if (method === "PATCH") return call("PATCH", path, { body: rest === "[]" ? [] : body, headers });
      return call(method, `${path}${rest}`, { headers });
    };
    expect((await send(before)).status).toBe(200);
    const unchanged = await readState();
    const first = await send(sent, { "Idempotency-Key": "key" });
    expect([first.status, await readState()]).toEqual([200, unchanged]);
    expect((await send(after)).status).toBe(200);
    const changed = await readState();
    expect(answerOf(await send(sent, { "Idempotency-Key": "key" }))).toEqual(answerOf(first));
    expect(await readState()).toEqual(changed);
    expect((await send("DELETE", { "Idempotency-Key": "key" })).status).toBe(409);
  });

  it("is a 409 `overtaken` when its version is not kept any more", async () => {
    const { path, call, vault } = await makeTestVault();
    await setVariables(vault, KEEP_NOTHING);
    const archive = () => call("POST", `${path}/unarchive`, { headers: { "Idempotency-Key": "key" } });
    expect((await archive()).status).toBe(200);
    expect((await call("POST", `${path}/archive`)).status).toBe(200);
    expect((await archive()).kind).toBe("overtaken");
  });
});

const freshClient = async (vault: string, dialect: "uuid" | "connect" = "uuid") =>
  client((await makeToken({ [vault]: "rw" }, { dialect })).token);

describe("an Idempotency-Key that another request used", () => {
  it("is a 409 when the body is the same JSON value in different bytes", async () => {
    const { writes } = await makeTestVault();
    await writes["POST"]!('{"category":"LOGIN"}');
    expect((await writes["POST"]!('{"category": "LOGIN"}')).status).toBe(409);
  });

  it("is a 409 when the method differs", async () => {
    for (const first of METHODS) {
      const { writes, readState } = await makeTestVault();
      await writes[first]!();
      const after = await readState();
      for (const second of METHODS.filter((method) => method !== first)) {
        expect([first, second, (await writes[second]!()).status]).toEqual([first, second, 409]);
      }
      expect(await readState()).toEqual(after);
    }
  });

  it("is a 409 when the path differs", async () => {
    const { items, call, item, writes } = await makeTestVault();
    const other = (await call("POST", items, { body: LOGIN })).body;
    await writes["PATCH"]!();
    const body = [{ op: "add", path: "/tags/-", value: "b" }];
    expect(other.id).not.toBe(item.id);
    expect((await call("PATCH", `${items}/${other.id}`, { body, headers: { "Idempotency-Key": "key" } })).status).toBe(409);
  });
});

describe("an Idempotency-Key", () => {
  it("of another token is another key", async () => {
    const { vault, items, writes, readState } = await makeTestVault();
    await writes["POST"]!({ ...LOGIN, title: "Mine" });
    const other = await freshClient(vault);
    const reply = await other("POST", items, { body: { ...LOGIN, title: "Theirs" }, headers: { "Idempotency-Key": "key" } });
    expect([reply.status, reply.body.title, (await readState()).vault.items]).toEqual([200, "Theirs", 3]);
  });

  it("is compared with regard to case", async () => {
    const { writes } = await makeTestVault();
    expect((await writes["POST"]!(LOGIN, "key")).body.id).not.toBe((await writes["POST"]!(LOGIN, "KEY")).body.id);
  });

  it("is not used by a request that fails", async () => {
    const { writes } = await makeTestVault();
    expect((await writes["PUT"]!({})).status).toBe(400);
    expect((await writes["PATCH"]!([{ op: "remove", path: "/fields/none" }])).status).toBe(400);
    expect((await writes["POST"]!()).status).toBe(200);
  });

  it.each(["", "a b", "a\t1", "x".repeat(256), "\u00e9"])("that is %j is a 400 that changes nothing", async (key) => {
    const { writes, readState } = await makeTestVault();
    const before = await readState();
    for (const method of METHODS) {
      const { body } = await writes[method]!(undefined, key);
      expect([method, body]).toEqual([method, { status: 400, message: expect.stringMatching(/^Idempotency-Key: /) }]);
    }
    expect(await readState()).toEqual(before);
  });

  it("may have 255 visible ASCII characters", async () => {
    const { writes } = await makeTestVault();
    const key = "!~\"'".padEnd(255, "x");
    expect((await writes["POST"]!(LOGIN, key)).body).toEqual((await writes["POST"]!(LOGIN, key)).body);
  });
});

const KEY = { "Idempotency-Key": "key" };

const recordRows = async (vault: string): Promise<RecordRow[]> =>
  (await env.DB.prepare("SELECT key, id, sealed FROM replays WHERE vault_id = ?1").bind(vault).all<RecordRow>()).results;

async function keyedPost(fields: readonly unknown[] = []) {
  const { vault, items, call } = await freshVault();
  const post = () => call("POST", items, { body: { ...LOGIN, fields }, headers: KEY });
  return { vault, items, call, post, first: await post() };
}

async function plaintextOf(vault: string): Promise<string> {
  const { newest: key } = await keysIn(env, vault);
  const { id, sealed } = (await recordRows(vault))[0]!;
  return unwrap(await openText({ all: [key] }, { kind: "idempotencyRecord", vault, record: id, version: 0 }, sealed));
}

describe("an idempotency record", () => {
  it("has at most 1 KiB as stored, with its entry in the index, whatever was written", async () => {
    const [vault, item, file, id] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [string, string, string, string];
    const { vault: place } = await freshVault();
    const hash = new Uint8Array(16).fill(255).toBase64();
    const effect = { kind: "replace-content", item, version: Number.MAX_SAFE_INTEGER, nonce: "f".repeat(16), file } as const;
    const sealed = await sealRecord(await keysIn(env, place), vault, { id, key: hash, request: hash, effect });
    const row = vault.length + hash.length + id.length + sealed.length;
    const entry = id.length + vault.length + hash.length;
    console.log(`an idempotency record: ${row} bytes, and ${entry} in the index`);
    expect(row + entry).toBeLessThanOrEqual(1024);
  });

  it("holds nothing of the Item but its id, its version and the nonce of that", async () => {
    const { vault, first } = await keyedPost([{ id: "f", value: "canary-in-a-field" }]);
    const { key, request, ...others } = JSON.parse(await plaintextOf(vault)) as Record<string, unknown>;
    expect([key, request]).toEqual([expect.any(String), expect.any(String)]);
    const nonce = first.headers.get("ETag")!.slice(3, -1);
    expect(others).toEqual({ effect: { kind: "create-item", item: first.body.id, version: 1, nonce } });
  });

  it("answers a POST whose Item no cache holds: the repetition names another Item id", async () => {
    const { vault, items, call, post, first } = await keyedPost();
    const { count, db } = countingDatabase();
    await renewCoordinator(vault, { DB: db });
    expect(await post()).toMatchObject({ status: 200, text: first.text });
    expect(count).toMatchObject({ calls: 2, rowsWritten: 0 });
    expect((await call("GET", items)).body).toHaveLength(1);
  });
});

/** Inserts records with these ids, which are also their keys. */
const insert = (vault: string, ids: readonly string[]) =>
  env.DB.prepare("INSERT INTO replays SELECT ?1, value, value, '' FROM json_each(?2)").bind(vault, JSON.stringify(ids)).run();

/** Different ids that are so many hours old. */
function idsOf(count: number, hours: number): string[] {
  const newest = Date.now() - hours * HOUR;
  return Array.from({ length: count }, (_, n) => firstIdAt(newest - n));
}

describe("the expiry of idempotency records", () => {
  it("reads the records that it deletes, and not the others", async () => {
    const { vault } = await freshVault();
    await insert(vault, idsOf(3_000, 1));
    await insert(vault, idsOf(20, 25));
    const { count, db } = countingDatabase();
    await deleteOldRecords(db, Date.now(), () => true);
    console.log(`20 of 3,020 records deleted: ${count.rowsRead} rows read, ${count.rowsWritten} written`);
    expect(await recordRows(vault)).toHaveLength(3_000);
    expect(count.rowsRead).toBeLessThanOrEqual(6 * 20);
  });
});

function moveBack(id: string, milliseconds: number): string {
  const time = (parseInt(id.replace("-", "").slice(0, 12), 16) - milliseconds).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
}

/** Makes the idempotency records of a vault older. The id of one is part of the associated data, so it is sealed again. */
async function age(vault: string, milliseconds: number): Promise<void> {
  const keys = await keysIn(env, vault);
  for (const row of await recordRows(vault)) {
    const id = moveBack(row.id, milliseconds);
    const sealed = await sealRecord(keys, vault, { ...unwrap(await openRecord(keys, vault, row)), id });
    await env.DB.prepare("UPDATE replays SET id = ?2, sealed = ?3 WHERE id = ?1").bind(row.id, id, sealed).run();
  }
}

/** A vault and a POST of an Item with a key. `post` repeats the POST, or sends another title with the same key. */
async function postWithKey() {
  const { vault, items, call } = await freshVault();
  const post = (title = "Once") => call("POST", items, { body: { ...LOGIN, title }, headers: { "Idempotency-Key": "key" } });
  return { vault, post, first: await post() };
}

describe("an Idempotency-Key", () => {
  it("is still in use after 23.9 hours", async () => {
    const { vault, post, first } = await postWithKey();
    await age(vault, 23.9 * HOUR);
    expect((await post()).text).toBe(first.text);
    expect((await post("Other")).status).toBe(409);
  });

  it.each(["Once", "Other"])("is free after 24.1 hours, and is then used by the request that comes: %s", async (title) => {
    const { vault, post, first } = await postWithKey();
    await age(vault, 24.1 * HOUR);
    const second = await post(title);
    expect([second.status, second.body.title, second.body.id === first.body.id]).toEqual([200, title, false]);
    expect([(await post(title)).text, (await post("Another")).status]).toEqual([second.text, 409]);
  });
});

describe("the scheduled handler", () => {
  it("deletes the idempotency records older than 24 hours, and no others", async () => {
    const [old, young] = [await postWithKey(), await postWithKey()];
    await age(old.vault, 24.1 * HOUR);
    await age(young.vault, 23.9 * HOUR);
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
    expect([await recordRows(old.vault), (await recordRows(young.vault)).length]).toEqual([[], 1]);
    expect((await young.post()).text).toBe(young.first.text);
  });

  it("uses the scheduled time of the cron event as the current time", async () => {
    const { vault } = await postWithKey();
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(Date.now() + 25 * HOUR) }), env);
    expect(await recordRows(vault)).toEqual([]);
  });
});
