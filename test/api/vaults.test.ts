import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { advanceClock } from "../support/faults.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { flipped } from "../verify/support/vault.ts";

describe("GET /v1/vaults", () => {
  it("returns the vaults that the token may read, and no others", async () => {
    const [read, written, other] = [await makeVault("Read"), await makeVault("Written"), await makeVault("Other")];
    const { token } = await makeToken({ [read]: "r", [written]: "w" });
    const { status, body } = await client(token)("GET", "/v1/vaults");
    expect(status).toBe(200);
    expect(body.map((vault: { id: string }) => vault.id)).toEqual([read]);
    expect(other).not.toBe(read);
  });

  it("returns the oldest vault first, as the list of the admin does (contract 11.1, 13.12)", async () => {
    onTestFinished(() => void vi.useRealTimers());
    const ids: string[] = [];
    for (let made = 0; made < 5; made++) {
      advanceClock(1_000);
      ids.push(await makeVault());
    }
    const { token } = await makeToken(Object.fromEntries(ids.toReversed().map((id) => [id, "r"])));
    const idsOf = (vaults: readonly { id: string }[]) => vaults.map(({ id }) => id).filter((id) => ids.includes(id));
    expect(idsOf((await client(token)("GET", "/v1/vaults")).body)).toEqual(ids);
    expect(idsOf((await admin("GET", "/v1/admin/vaults")).body)).toEqual(ids);
  });

  it("returns each vault as `GET /v1/vaults/{v}` does", async () => {
    const { vault, call } = await freshVault();
    expect((await call("GET", "/v1/vaults")).body).toEqual([(await call("GET", `/v1/vaults/${vault}`)).body]);
  });

  it("returns an empty list for a token that may read no vault", async () => {
    const { token } = await makeToken({ [await makeVault()]: "w" });
    const { status, body } = await client(token)("GET", "/v1/vaults");
    expect(status).toBe(200);
    expect(body).toEqual([]);
  });

  it("does not return a deleted vault", async () => {
    const [kept, deleted] = [await makeVault("Kept"), await makeVault("Gone")];
    const { token } = await makeToken({ [kept]: "r", [deleted]: "rw" });
    await admin("DELETE", `/v1/admin/vaults/${deleted}`);
    const { body } = await client(token)("GET", "/v1/vaults");
    expect(body.map((vault: { id: string }) => vault.id)).toEqual([kept]);
  });
});

/** The names of the vaults that a filter finds. */
const find = async (call: Client, filter: string): Promise<unknown[]> =>
  (await call("GET", `/v1/vaults?filter=${encodeURIComponent(filter)}`)).body.map(({ name }: { name: string }) => name);

describe("GET /v1/vaults with a filter", () => {
  it.each(["name", "title"])(
    "by %s finds the vault of an id, in either form, unless a vault has this name",
    async (attribute) => {
      const [first, second] = [await makeVault("First"), await makeVault("Second")];
      const call = client((await makeToken({ [first]: "r", [second]: "r" })).token);
      for (const id of [first, first.toUpperCase(), writeId(first, "connect")])
        expect(await find(call, `${attribute} eq "${id}"`)).toEqual(["First"]);
      const named = await makeVault(first);
      const wider = client((await makeToken({ [first]: "r", [named]: "r" })).token);
      expect(await find(wider, `${attribute} eq "${first}"`)).toEqual([first]);
    },
  );

  it.each(["name", "title"])("by %s finds no vault of an id that the token does not read", async (attribute) => {
    const [other, own] = [await makeVault("Other"), await makeVault("Own")];
    const call = client((await makeToken({ [own]: "r", [other]: "w" })).token);
    expect(await find(call, `${attribute} eq "${other}"`)).toEqual([]);
  });
});

describe("GET /v1/vaults/{v}", () => {
  it("returns all attributes of the vault", async () => {
    const { vault, call } = await freshVault();
    const { status, body } = await call("GET", `/v1/vaults/${vault}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: vault,
      name: "Test",
      description: "",
      attributeVersion: 1,
      contentVersion: 0,
      items: 0,
      type: "USER_CREATED",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: body.createdAt,
    });
  });

  it("counts the Items in `items` and every write to them in `contentVersion`", async () => {
    const { vault, items, call } = await freshVault();
    const readCounts = async () => {
      const { body } = await call("GET", `/v1/vaults/${vault}`);
      return [body.items, body.contentVersion, body.attributeVersion];
    };
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    expect(await readCounts()).toEqual([1, 1, 1]);
    await call("POST", items, { body: LOGIN });
    expect(await readCounts()).toEqual([2, 2, 1]);
    await call("PUT", `${items}/${id}`, { body: { ...LOGIN, vault: { id: vault } } });
    expect(await readCounts()).toEqual([2, 3, 1]);
    await call("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: "t" }] });
    expect(await readCounts()).toEqual([2, 4, 1]);
    await call("DELETE", `${items}/${id}`);
    expect(await readCounts()).toEqual([1, 5, 1]);
  });

  it("does not count a write that is refused or changes nothing", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const { body: before } = await call("GET", `/v1/vaults/${vault}`);
    expect((await call("POST", items, { body: {} })).status).toBe(400);
    expect((await call("PUT", `${items}/${id}`, { body: LOGIN })).status).toBe(400);
    expect((await call("PATCH", `${items}/${id}`, { body: [] })).status).toBe(200);
    expect((await call("DELETE", `${items}/${vault}`)).status).toBe(404);
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toEqual(before);
  });

  it("counts a change of the name in `attributeVersion`", async () => {
    const { vault, call } = await freshVault();
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "New" } });
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({
      name: "New",
      attributeVersion: 2,
      contentVersion: 0,
      items: 0,
    });
  });

  it("is a 403 for a vault that the token does not name, whether it exists or not", async () => {
    const { call } = await freshVault();
    for (const vault of [await makeVault(), "3fa85f64-5717-4562-b3fc-2c963f66afa6"]) {
      const { status, body } = await call("GET", `/v1/vaults/${vault}`);
      expect(status).toBe(403);
      expect(body).toEqual({ status: 403, message: `vault ${vault} is not in scope` });
    }
  });

  it("is a 403 for a token with the permission w", async () => {
    const vault = await makeVault();
    const { token } = await makeToken({ [vault]: "w" });
    expect((await client(token)("GET", `/v1/vaults/${vault}`)).body).toEqual({
      status: 403,
      message: `the token may not list vault ${vault}`,
    });
  });

  it("is a 404 for a deleted vault that the token names", async () => {
    const { vault, call } = await freshVault();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    const { status, body } = await call("GET", `/v1/vaults/${vault}`);
    expect(status).toBe(404);
    expect(body).toEqual({ status: 404, message: `vault ${vault} not found` });
  });
});

/** Changes a character of a sealed column of a vault. */
const damage = (vault: string, column: "name" | "description") =>
  env.DB.prepare(`UPDATE vaults SET ${column} = ${flipped(column)} WHERE id = ?`)
    .bind(vault)
    .run();

/** The attribute `vault` of an Item (contract 2.23). */
describe("the vault of an Item", () => {
  it.each(["uuid", "connect"] as const)("has the name of the vault in every answer with the Item: %s", async (dialect) => {
    const { vault, items, call } = await freshVault(dialect);
    const made = await call("POST", items, { body: LOGIN });
    const item = `${items}/${made.body.id}`;
    const answers = [made.body, (await call("GET", item)).body, (await call("GET", items)).body[0]];
    answers.push((await call("PUT", item, { body: { ...LOGIN, vault: { id: vault } } })).body);
    answers.push((await call("PATCH", item, { body: [] })).body);
    for (const body of answers) expect(body.vault).toEqual({ id: writeId(vault, dialect), name: "Test" });
  });

  const answers: Record<string, (call: Client, vault: string, item: string) => Promise<any>> = {
    "a version": async (call, _, item) => (await call("GET", `${item}/versions/1`)).body,
    "the restore of a version": async (call, _, item) => (await call("POST", `${item}/versions/1/restore`)).body,
    archive: async (call, _, item) => (await call("POST", `${item}/archive`)).body,
    unarchive: async (call, _, item) => (await call("POST", `${item}/unarchive`)).body,
    "the list of deleted Items": async (call, vault, item) =>
      (await call("DELETE", item), await call("GET", `/v1/vaults/${vault}/deleted-items`)).body[0],
    "a deleted Item": async (call, _, item) =>
      (await call("DELETE", item), await call("GET", item.replace("/items/", "/deleted-items/"))).body,
    "the restore of a deleted Item": async (call, _, item) =>
      (await call("DELETE", item), await call("POST", `${item.replace("/items/", "/deleted-items/")}/restore`)).body,
  };

  it.each(Object.entries(answers))("has the name of the vault in the answer of %s", async (_, ask) => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    await call("PATCH", item, { body: [{ op: "replace", path: "/title", value: "Renamed" }] });
    expect((await ask(call, vault, item)).vault).toEqual({ id: vault, name: "Test" });
  });

  it("has its id only, when the name of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    const { status, body } = await call("GET", item);
    await damage(vault, "name");
    const after = await call("GET", item);
    expect([after.status, after.body.vault]).toEqual([status, { id: vault }]);
    expect(body.vault).toEqual({ id: vault, name: "Test" });
  });

  it("has its id only in a list, when the name of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await damage(vault, "name");
    const { status, headers, body } = await call("GET", items);
    expect([status, headers.has("Item-Vault-Broken")]).toEqual([200, false]);
    expect(body).toMatchObject([{ id, title: LOGIN.title, vault: { id: vault } }]);
    expect(body[0].vault).toEqual({ id: vault });
  });

  it("has the name when the description of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    await damage(vault, "description");
    expect((await call("GET", item)).body.vault).toEqual({ id: vault, name: "Test" });
  });

  it("does not take a name from a request", async () => {
    const { vault, items, call } = await freshVault();
    const body = { ...LOGIN, vault: { id: vault, name: "Another" } };
    expect((await call("POST", items, { body })).body.vault).toEqual({ id: vault, name: "Test" });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.name).toBe("Test");
  });

  it("has the present name in the answer to a repeated request", async () => {
    const { vault, items, call } = await freshVault();
    const repeated = { body: LOGIN, headers: { "Idempotency-Key": "once" } };
    const { id } = (await call("POST", items, repeated)).body;
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Renamed" } });
    expect((await call("POST", items, repeated)).body).toMatchObject({ id, vault: { id: vault, name: "Renamed" } });
  });

  // A 304 says that the Item is the same, not that its vault has the same name (contract 10.4).
  it("has another name after the vault was renamed, while If-None-Match is answered with a 304", async () => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    const { headers } = await call("GET", item);
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Renamed" } });
    const again = await call("GET", item, { headers: { "If-None-Match": headers.get("ETag")! } });
    expect(again.status).toBe(304);
    expect((await call("GET", item)).body.vault).toEqual({ id: vault, name: "Renamed" });
  });
});
