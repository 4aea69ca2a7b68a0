import { describe, expect, it } from "vitest";
import { renewCoordinator } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { newReceiver } from "../support/webhooks.ts";
import { flipped } from "../verify/support/vault.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/** A damaged name or description of a vault costs only the requests that show it or leave it (contract 2.5, 13.13). */

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
    expect([refused.status, refused.headers.get("Item-Vault-Error")]).toEqual([500, "integrity"]);
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
