import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { KEEP_NOTHING, renewCoordinator, setVariables } from "../support/bindings.ts";
import { inOneGroup } from "../support/group.ts";
import { currentTag } from "../support/etags.ts";
import { type Client, client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** `Idempotency-Key` of writes to Items (contract 10.7 to 10.12, 10.16): a repeated request has one effect. */

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
  it.each(METHODS)("gets the first answer byte for byte and has no second effect: %s", async (method) => {
    const { writes, readState } = await makeTestVault();
    const first = await writes[method]!();
    const after = await readState();
    expect([200, 204]).toContain(first.status);
    expect(answerOf(await writes[method]!())).toEqual(answerOf(first));
    expect(answerOf(await writes[method]!())).toEqual(answerOf(first));
    expect(await readState()).toEqual(after);
  });

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

  it.each(["POST", "PUT", "PATCH"])(
    "is a 409 `overtaken` after a later write to its Item when no version is kept, and has no effect: %s",
    async (method) => {
      const { vault, items, call, writes, readState } = await makeTestVault();
      await setVariables(vault, KEEP_NOTHING);
      const { id } = (await writes[method]!()).body;
      await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "Later" }] });
      const after = await readState();
      const reply = await writes[method]!();
      expect([reply.status, reply.headers.get("Item-Vault-Error"), reply.headers.get("ETag")]).toEqual([409, "overtaken", null]);
      expect(await readState()).toEqual(after);
    },
  );

  it.each(["POST", "PUT", "PATCH"])(
    "is a 409 `overtaken` after its Item was destroyed, and has no effect: %s",
    async (method) => {
      const { vault, items, call, writes, readState } = await makeTestVault();
      await setVariables(vault, KEEP_NOTHING);
      const { id } = (await writes[method]!()).body;
      await call("DELETE", `${items}/${id}`);
      const after = await readState();
      const reply = await writes[method]!();
      expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([409, "overtaken"]);
      expect(await readState()).toEqual(after);
    },
  );

  it("gets a 500 `integrity` when its Item does not open, and has no effect", async () => {
    const { vault, item, writes } = await makeTestVault();
    await writes["PATCH"]!();
    await env.DB.prepare("UPDATE items SET overview = details WHERE vault_id = ?1 AND id = ?2").bind(vault, item.id).run();
    await renewCoordinator(vault, {});
    expect((await writes["PATCH"]!()).headers.get("Item-Vault-Error")).toBe("integrity");
  });

  it.each(METHODS)("has one effect and one answer when it is sent five times concurrently: %s", async (method) => {
    const { vault, writes, readState } = await makeTestVault();
    const replies = await Promise.all(Array.from({ length: 5 }, () => writes[method]!()));
    expect(new Set(replies.map((reply) => JSON.stringify(answerOf(reply)))).size).toBe(1);
    expect((await readState()).vault).toMatchObject({ id: vault, contentVersion: 2 });
  });

  it.each(METHODS)("has one effect and one answer when its repetitions are in one group commit: %s", async (method) => {
    const { vault, items, call, writes, readState } = await makeTestVault();
    const repeated = Array.from({ length: 5 }, () => () => writes[method]!());
    const { first, others } = await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), repeated);
    expect(first.status).toBe(200);
    expect(new Set(others.map((reply) => JSON.stringify(answerOf(reply)))).size).toBe(1);
    expect((await readState()).vault).toMatchObject({ id: vault, contentVersion: 3 });
  });

  it("creates no second Item by POST", async () => {
    const { writes, readState } = await makeTestVault();
    const [first, second] = [(await writes["POST"]!()).body, (await writes["POST"]!()).body];
    expect([second, (await readState()).vault.items]).toEqual([first, 2]);
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
    expect((await archive()).headers.get("Item-Vault-Error")).toBe("overtaken");
  });
});

const freshClient = async (vault: string, dialect: "uuid" | "connect" = "uuid") =>
  client((await makeToken({ [vault]: "rw" }, { dialect })).token);

describe("an Idempotency-Key that another request used", () => {
  it.each(["POST", "PUT", "PATCH"])("is a 409 that changes nothing when the body differs: %s", async (method) => {
    const { item, writes, readState } = await makeTestVault();
    await writes[method]!();
    const after = await readState();
    const body = method === "PATCH" ? [{ op: "add", path: "/tags/-", value: "c" }] : { ...item, title: "Other" };
    const { status, body: error } = await writes[method]!(body);
    expect([status, error]).toEqual([409, { status: 409, message: expect.any(String) }]);
    expect(await readState()).toEqual(after);
  });

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

  it.each(["", "a b", "x".repeat(256), "\u00e9"])("that is %j is a 400 that changes nothing", async (key) => {
    const { writes, readState } = await makeTestVault();
    const before = await readState();
    for (const method of METHODS) expect([method, (await writes[method]!(undefined, key)).status]).toEqual([method, 400]);
    expect(await readState()).toEqual(before);
  });

  it("may have 255 visible ASCII characters", async () => {
    const { writes } = await makeTestVault();
    const key = "!~\"'".padEnd(255, "x");
    expect((await writes["POST"]!(LOGIN, key)).body).toEqual((await writes["POST"]!(LOGIN, key)).body);
  });
});
