import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { client, freshVault, LOGIN, makeToken, makeVault, outcome, type Reply } from "../support/service.ts";

/** `Item-Id`, the id that a client chooses for a new Item (contract 10.23 to 10.26). */

const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const SHORT = "h6uf6zcxc5cwfm74fsld6zvpuy";

async function vaultForIds(dialect: "uuid" | "connect" = "uuid") {
  const { vault, items } = await freshVault();
  const call = client((await makeToken({ [vault]: "rwd" }, { dialect })).token);
  const post = (id: string = ID, title = "Chosen", key?: string): Promise<Reply> =>
    call("POST", items, {
      body: { ...LOGIN, title },
      headers: { "Item-Id": id, ...(key === undefined ? {} : { "Idempotency-Key": key }) },
    });
  const deleted = `/v1/vaults/${vault}/deleted-items/${ID}`;
  return { vault, items, path: `${items}/${ID}`, deleted, call, post };
}

const EXISTS = [409, "item_exists"];

describe("POST with an Item-Id", () => {
  it.each([
    ["a UUID", ID],
    ["a UUID in upper case", ID.toUpperCase()],
    ["26 characters", SHORT],
    ["a UUID of no version that RFC 9562 defines", ID.replace("-4562-b", "-0562-0")],
  ])("makes the Item with that id, in either dialect: %s", async (_, header) => {
    const id = header.includes("-0562-") ? header : ID;
    const uuid = await vaultForIds();
    const { status, body } = await uuid.post(header);
    expect([status, body.id, body.version]).toEqual([200, id, 1]);
    expect((await uuid.call("GET", `${uuid.items}/${id}`)).body).toEqual(body);
    const connect = await vaultForIds("connect");
    expect((await connect.post(header)).body.id).toHaveLength(26);
    expect((await connect.call("GET", `${connect.items}/${id}`)).body.title).toBe("Chosen");
  });

  it.each([
    ["empty", ""],
    ["another text", "no-id"],
    ["two ids", `${ID}, ${ID}`],
    ["26 characters that are no base32", "0".repeat(26)],
    ["26 characters with padding bits", `${"a".repeat(25)}b`],
    ["26 characters in upper case", SHORT.toUpperCase()],
    ["a UUID in braces", `{${ID}}`],
  ])("is a 400 that names the header when the id is malformed, and nothing happens: %s", async (_, header) => {
    const { items, call, post } = await vaultForIds();
    const reply = await post(header);
    expect(reply.body).toEqual({ status: 400, message: "Item-Id: is not a UUID or its 26 characters of base32" });
    expect((await call("GET", items)).body).toEqual([]);
  });

  it("is a 409 while the Item exists, whatever was written since, and changes nothing", async () => {
    const { vault, path, call, post } = await vaultForIds();
    await post();
    for (const write of [
      () => call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Later" }] }),
      () => call("POST", `${path}/archive`),
      () => call("GET", path),
    ]) {
      await write();
      const before = [(await call("GET", path)).text, (await call("GET", `/v1/vaults/${vault}`)).text];
      expect(outcome(await post(SHORT))).toEqual(EXISTS);
      expect([(await call("GET", path)).text, (await call("GET", `/v1/vaults/${vault}`)).text]).toEqual(before);
    }
  });

  it("is a 409 while the Item is deleted and kept, and the Item can be restored", async () => {
    const { path, deleted, call, post } = await vaultForIds();
    await post();
    await call("DELETE", path);
    expect(outcome(await post())).toEqual(EXISTS);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("POST", `${deleted}/restore`)).body).toMatchObject({ id: ID, version: 2 });
    expect(outcome(await post())).toEqual(EXISTS);
  });

  it("makes a new Item without anything of the one before, when that was destroyed", async () => {
    const { path, deleted, call, post } = await vaultForIds();
    await post();
    await call("POST", `${path}/files?name=f`, { body: "abc" });
    await call("DELETE", path);
    expect((await call("DELETE", deleted)).status).toBe(204);
    expect((await post(ID, "Again")).body).toMatchObject({ id: ID, version: 1, title: "Again", files: [] });
    expect((await call("GET", `${path}/versions`)).body).toHaveLength(1);
  });

  it("makes a new Item when the one before was deleted without a retention", async () => {
    const { vault, path, call, post } = await vaultForIds();
    await setVariables(vault, KEEP_NOTHING);
    await post();
    await call("DELETE", path);
    expect((await post()).status).toBe(200);
  });

  it("is a 409 while versions are left of an Item whose row is lost", async () => {
    const { vault, path, call, post } = await vaultForIds();
    await post();
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Later" }] });
    await env.DB.prepare("DELETE FROM items WHERE vault_id = ? AND id = ?").bind(vault, ID).run();
    expect(outcome(await post())).toEqual(EXISTS);
  });

  it("makes an Item that another vault has under the same id, and the two have nothing in common", async () => {
    const [one, other] = [await vaultForIds(), await vaultForIds()];
    for (const [{ path, call, post }, text] of [
      [one, "first"],
      [other, "second"],
    ] as const) {
      expect((await post(ID, text)).status).toBe(200);
      const { body: file } = await call("POST", `${path}/files?name=f`, { body: text });
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `${text} later` }] });
      expect((await call("GET", `${path}/files/${file.id}/content`)).text).toBe(text);
    }
    await one.call("DELETE", one.path);
    await one.call("DELETE", one.deleted);
    expect((await other.call("GET", other.path)).body).toMatchObject({ title: "second later", version: 3 });
    expect((await other.call("GET", `${other.path}/versions/1`)).body.title).toBe("second");
    expect((await one.post()).status).toBe(200);
  });

  it("needs no permission to read", async () => {
    const vault = await makeVault();
    const { token } = await makeToken({ [vault]: "w" });
    const post = () => client(token)("POST", `/v1/vaults/${vault}/items`, { body: LOGIN, headers: { "Item-Id": ID } });
    expect((await post()).status).toBe(200);
    expect(outcome(await post())).toEqual(EXISTS);
  });

  it("is refused for another fault first: a vault that does not exist, a body that is no Item", async () => {
    const { vault, items, call } = await vaultForIds();
    const { token } = await makeToken({ [ID]: "rw", [vault]: "rw" });
    const headers = { "Item-Id": "malformed" };
    expect((await client(token)("POST", `/v1/vaults/${ID}/items`, { body: LOGIN, headers })).status).toBe(404);
    expect(outcome(await call("POST", items, { body: {}, headers }))).toEqual([400, "category"]);
  });

  it("is ignored by PUT", async () => {
    const { items, call } = await vaultForIds();
    const { body } = await call("POST", items, { body: LOGIN });
    const reply = await call("PUT", `${items}/${body.id}`, {
      body: { ...body, title: "Put" },
      headers: { "Item-Id": "malformed" },
      undocumented: "only a POST takes it",
    });
    expect(reply.body).toMatchObject({ id: body.id, title: "Put" });
  });
});

describe("an Idempotency-Key with an Item-Id", () => {
  it("repeats the first answer", async () => {
    const { post, call, path } = await vaultForIds();
    const first = await post(ID, "Chosen", "key");
    expect(first.status).toBe(200);
    expect((await post(SHORT, "Chosen", "key")).text).toBe(first.text);
    await call("DELETE", path);
    expect((await post(ID, "Chosen", "key")).text).toBe(first.text);
  });

  it("is bound to the id", async () => {
    const { items, call, post } = await vaultForIds();
    await post(ID, "Chosen", "key");
    const other = await post(ID.replace("3f", "4f"), "Chosen", "key");
    expect(outcome(other)).toEqual([409, "idempotency"]);
    const without = await call("POST", items, { body: { ...LOGIN, title: "Chosen" }, headers: { "Idempotency-Key": "key" } });
    expect(outcome(without)).toEqual([409, "idempotency"]);
  });

  it("stays unused after a 409", async () => {
    const { items, call, post } = await vaultForIds();
    await post();
    expect(outcome(await post(ID, "Chosen", "key"))).toEqual(EXISTS);
    const reply = await call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": "key" } });
    expect(reply.status).toBe(200);
  });

  it("does not answer with another Item of the same id", async () => {
    const { path, deleted, call, post } = await vaultForIds();
    await post(ID, "Chosen", "key");
    await call("DELETE", path);
    await call("DELETE", deleted);
    await post(ID, "Chosen", "other key");
    expect(outcome(await post(ID, "Chosen", "key"))).toEqual([409, "overtaken"]);
  });

  const TAG = [{ op: "add", path: "/tags/-", value: "tag" }];
  const bytes = { body: pattern(3), headers: lengthOf(pattern(3)) };

  it.each([
    ["POST", "", { ...LOGIN, title: "Chosen" }],
    ["PUT", `/${ID}`, undefined],
    ["PATCH", `/${ID}`, TAG],
    ["POST", `/${ID}/archive`, undefined],
    ["POST", `/${ID}/files?name=x`, bytes.body],
  ])(
    "of %s …/items%s gets neither the current nor a kept version of an Item that was destroyed and made again",
    async (...write) => {
      const { vault, items, path, deleted, call } = await vaultForIds();
      const [method, end, body] = write;
      const send = (key: string) =>
        call(method, `${items}${end}`, {
          body: method === "PUT" ? { ...LOGIN, title: "Put", vault: { id: vault } } : body,
          headers: {
            "Idempotency-Key": key,
            ...(method === "POST" && end === "" && { "Item-Id": ID }),
            ...(body === bytes.body && bytes.headers),
          },
        });
      /** Makes the Item, if the write itself does not, and sends the write. */
      const make = async (key: string) => {
        if (end !== "") await call("POST", items, { body: LOGIN, headers: { "Item-Id": ID } });
        return send(key);
      };
      const first = await make("first");
      expect([first.status, (await send("first")).text]).toEqual([200, first.text]);
      for (const destroyed of [path, deleted]) expect((await call("DELETE", destroyed)).status).toBe(204);
      expect((await make("again")).status).toBe(200);
      expect(outcome(await send("first"))).toEqual([409, "overtaken"]);
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Later" }] });
      expect(outcome(await send("first"))).toEqual([409, "overtaken"]);
    },
  );
});
