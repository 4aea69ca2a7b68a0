import { describe, expect, it, onTestFinished, vi } from "vitest";
import { renewCoordinator } from "../support/bindings.ts";
import { advanceClock } from "../support/faults.ts";
import { pattern } from "../support/files.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, outcome } from "../support/service.ts";
import { runSql } from "../support/sql.ts";
import { newReceiver } from "../support/webhooks.ts";
import { flipped } from "../verify/support/vault.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/** Vaults (contract 1.2, 2.5, 2.23), and what a damaged name or description of a vault costs: only the requests that show it or leave it (2.5, 13.13). */

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

  it("does not return a deleted vault", async () => {
    const [kept, deleted] = [await makeVault("Kept"), await makeVault("Gone")];
    const { token } = await makeToken({ [kept]: "r", [deleted]: "rw" });
    await admin("DELETE", `/v1/admin/vaults/${deleted}`);
    const { body } = await client(token)("GET", "/v1/vaults");
    expect(body.map((vault: { id: string }) => vault.id)).toEqual([kept]);
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
});

/** Changes a character of a sealed column of a vault. */
const flip = (vault: string, column: "name" | "description") =>
  runSql(`UPDATE vaults SET ${column} = ${flipped(column)} WHERE id = ?`, vault);

/** The attribute `vault` of an Item (contract 2.23). That each answer has the name of the vault is in item-answers.test.ts. */
describe("the vault of an Item", () => {
  it("has its id only, when the name of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    const { status, body } = await call("GET", item);
    await flip(vault, "name");
    const after = await call("GET", item);
    expect([after.status, after.body.vault]).toEqual([status, { id: vault }]);
    expect(body.vault).toEqual({ id: vault, name: "Test" });
  });

  it("has its id only in a list, when the name of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await flip(vault, "name");
    const { status, headers, body } = await call("GET", items);
    expect([status, headers.has("Item-Vault-Broken")]).toEqual([200, false]);
    expect(body).toMatchObject([{ id, title: LOGIN.title, vault: { id: vault } }]);
    expect(body[0].vault).toEqual({ id: vault });
  });

  it("has the name when the description of the vault does not open", async () => {
    const { vault, items, call } = await freshVault();
    const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    await flip(vault, "description");
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

type Text = "name" | "description";

const TEXTS = ["name", "description"] as const satisfies readonly Text[];

/** A vault with an Item, its File, an earlier version and a deleted Item. */
async function makeWorld() {
  const vault = await makeVault();
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const items = `/v1/vaults/${vault}/items`;
  const create = async () => (await call("POST", items, { body: { ...LOGIN, fields: [{ label: "a", value: "v" }] } })).body.id;
  const [item, deleted] = [await create(), await create()];
  const file = (await call("POST", `${items}/${item}/files?name=f`, { body: pattern(3) })).body.id;
  await call("DELETE", `${items}/${deleted}`);
  return {
    vault,
    items,
    call,
    item: `${items}/${item}`,
    id: item as string,
    file,
    deleted: `/v1/vaults/${vault}/deleted-items/${deleted}`,
  };
}

type World = Awaited<ReturnType<typeof makeWorld>>;

const damage = async ({ vault }: Pick<World, "vault">, ...texts: readonly Text[]) => {
  await run(`UPDATE vaults SET ${texts.map((text) => `${text} = ${flipped(text)}`).join(", ")} WHERE id = ?1`, vault);
  await renewCoordinator(vault, {});
};

const REQUESTS: Readonly<Record<string, (world: World) => Promise<{ readonly status: number }>>> = {
  "the creation of an Item": ({ call, items }) => call("POST", items, { body: LOGIN }),
  "a PUT": ({ call, item, id, vault }) => call("PUT", item, { body: { ...LOGIN, id, vault: { id: vault } } }),
  "a PATCH": ({ call, item }) => call("PATCH", item, { body: [{ op: "replace", path: "/title", value: "T" }] }),
  "an upload": ({ call, item }) => call("POST", `${item}/files?name=g`, { body: pattern(3) }),
  "a new content": ({ call, item, file }) => call("PUT", `${item}/files/${file}/content`, { body: pattern(4) }),
  "the deletion of a File": ({ call, item, file }) => call("DELETE", `${item}/files/${file}`),
  "a deletion": ({ call, item }) => call("DELETE", item),
  "a restoration": ({ call, deleted }) => call("POST", `${deleted}/restore`),
  "a destruction": ({ call, deleted }) => call("DELETE", deleted),
  "the restoration of a version": ({ call, item }) => call("POST", `${item}/versions/1/restore`),
  "the destruction of a version": ({ call, item }) => call("DELETE", `${item}/versions/1`),
  "a read": ({ call, item }) => call("GET", item),
  "a list": ({ call, items }) => call("GET", items),
  "the list of deleted Items": ({ call, vault }) => call("GET", `/v1/vaults/${vault}/deleted-items`),
  "the events": ({ call, vault }) => call("GET", `/v1/vaults/${vault}/events?after=0`),
  "the events of all vaults": ({ call }) => call("GET", "/v1/events"),
  "a webhook": ({ vault }) => admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } }),
  "the deletion of the vault": ({ vault }) => admin("DELETE", `/v1/admin/vaults/${vault}`),
};

describe.each(TEXTS)("with a damaged %s", (text) => {
  it.each(Object.entries(REQUESTS))("%s needs no text of the vault", async (_name, request) => {
    const sound = await makeWorld();
    const { status } = await request(sound);
    const world = await makeWorld();
    await damage(world, text);
    expect([status < 300, (await request(world)).status]).toEqual([true, status]);
  });

  it("a reference by id needs no text of the vault, and one by the name of another vault does neither", async () => {
    const world = await makeWorld();
    const other = await makeVault("Other");
    const { call } = { call: client((await makeToken({ [world.vault]: "r", [other]: "rw" })).token) };
    await call("POST", `/v1/vaults/${other}/items`, { body: { ...LOGIN, fields: [{ label: "a", value: "w" }] } });
    await damage(world, text);
    const references = [`op://${world.vault}/${world.id}/a`, "op://Other/Login/a", "op://Test/Login/a"];
    const { body } = await call("POST", "/v1/resolve", { body: { references } });
    const shown = body.values.map((one: any) => one.value ?? one.status);
    expect(shown).toEqual(["v", "w", text === "name" ? 500 : "v"]);
  });

  it("an edit that replaces what is damaged repairs the vault, and any other edit is the failure", async () => {
    const world = await makeWorld();
    await damage(world, text);
    await world.call("POST", world.items, { body: LOGIN });
    const path = `/v1/admin/vaults/${world.vault}`;
    const refused = await admin("PATCH", path, { body: { quota: { items: 5 } } });
    expect(outcome(refused)).toEqual([500, "integrity"]);
    const { findings } = await verifyAll({ vault: world.vault });
    expect(findings).toMatchObject([{ kind: "row_unreadable", table: "vaults" }]);
    expect((await admin("PATCH", path, { body: { [text]: "New" } })).status).toBe(200);
    expect((await world.call("GET", `/v1/vaults/${world.vault}`)).body).toMatchObject({ [text]: "New" });
    expect((await verifyAll({ vault: world.vault })).findings).toEqual([]);
  });
});

it.each([
  ["both of its texts are damaged", (world: World) => damage(world, "name", "description")],
  [
    "the version of its texts is another one",
    async ({ vault }: World) => {
      await run("UPDATE vaults SET attribute_version = 2 WHERE id = ?1", vault);
      await renewCoordinator(vault, {});
    },
  ],
])("a vault takes no write but its deletion, and its Items are read, when %s", async (_, plant) => {
  const world = await makeWorld();
  const { vault, call, items, item } = world;
  await plant(world);
  for (const { status, headers } of [
    await call("POST", items, { body: LOGIN }),
    await call("DELETE", item),
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "A", description: "B" } }),
  ])
    expect([status, headers.get("Item-Vault-Error")]).toEqual([500, "integrity"]);
  expect([(await call("GET", item)).status, (await call("GET", items)).body.length]).toEqual([200, 1]);
  expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
});
