import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renewCoordinator } from "../support/bindings.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { runHourly } from "../support/jobs.ts";
import { passDaysQuickly } from "../support/restore.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/**
 * Everything that the service deletes by a time or a list. One damaged row says "delete", and another row, or the vault's creation, says
 * that it lives.
 */

afterEach(() => {
  vi.useRealTimers();
});

interface World {
  readonly vault: string;
  readonly call: Client;
  /** The paths of an Item with two versions and a File, and of a deleted Item with one. */
  readonly item: string;
  readonly deleted: string;
  readonly ids: { readonly item: string; readonly deleted: string; readonly token: string; readonly person: string };
}

async function makeWorld(): Promise<World> {
  const vault = await makeVault();
  const { id: token, token: text } = await makeToken({ [vault]: "rwd" });
  const call = client(text);
  const items = `/v1/vaults/${vault}/items`;
  const create = async () => {
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await call("POST", `${items}/${id}/files?name=f`, { body: pattern(3) });
    return id as string;
  };
  const [item, deleted] = [await create(), await create()];
  await call("DELETE", `${items}/${deleted}`);
  const body = { email: `${token}@example.com`, vaults: { [vault]: "r" } };
  const person = (await admin("POST", "/v1/admin/people", { body })).body.id;
  return {
    vault,
    call,
    item: `${items}/${item}`,
    deleted: `/v1/vaults/${vault}/deleted-items/${deleted}`,
    ids: { item, deleted, token, person },
  };
}

const DAY = 86_400_000;
const LAST_MONTH = 1 - 31 * DAY;

const deletionOf = (vault: string, item: string) =>
  run("INSERT INTO deleted_items VALUES (?1, ?2, 1, ?3, ?2)", vault, item, Date.now() + LAST_MONTH);

/** By what a row says wrongly: the damage, and what `verify` names, but for times that a row can have. */
const DAMAGES: Readonly<Record<string, { plant: (world: World) => Promise<unknown>; named?: (world: World) => object }>> = {
  "an Item that exists was deleted a month ago": {
    plant: async ({ vault, ids }) => {
      await run("UPDATE vaults SET created_at = 1 WHERE id = ?1", vault);
      await deletionOf(vault, ids.item);
    },
    named: ({ vault, ids }) => ({ kind: "version_wrong", vault, item: ids.item, table: "deleted_items" }),
  },
  "an Item was deleted just after 1970": {
    plant: ({ ids }) => run("UPDATE deleted_items SET deleted_at = 1 WHERE id = ?1", ids.deleted),
  },
  "an Item was deleted a month before its vault was created": {
    plant: ({ ids }) => run("UPDATE deleted_items SET deleted_at = deleted_at + ?2 WHERE id = ?1", ids.deleted, LAST_MONTH),
  },
  "a vault that exists was deleted": {
    plant: ({ vault }) => run("INSERT INTO deleted_vaults VALUES (?1, 1)", vault),
    named: ({ vault }) => ({ kind: "vault_unknown", vault, table: "deleted_vaults" }),
  },
  "a token expired before it was issued": {
    plant: ({ ids }) => run("UPDATE tokens SET expires_at = 1 WHERE id = ?1", ids.token),
    named: ({ ids }) => ({ kind: "token_changed", table: "tokens", id: ids.token }),
  },
  "a person has expired": {
    plant: ({ ids }) => run("UPDATE tokens SET expires_at = created_at WHERE id = ?1", ids.person),
    named: ({ ids }) => ({ kind: "token_changed", table: "tokens", id: ids.person }),
  },
};

const ROWS = ["items", "item_versions", "files", "file_versions"];

/** Everything of a world that must not be lost. */
const livingOf = async ({ vault, ids }: World) => ({
  rows: await Promise.all(
    ROWS.map(async (table) => (await env.DB.prepare(`SELECT * FROM ${table} WHERE vault_id = ?`).bind(vault).all()).results),
  ),
  objects: await objectsOf(vault),
  tokens: (await env.DB.prepare("SELECT id FROM tokens WHERE id IN (?, ?)").bind(ids.token, ids.person).all()).results.length,
});

describe.each(Object.entries(DAMAGES))("when a row says wrongly that %s", (_name, { plant, named }) => {
  it("`verify` names it, and the hourly run deletes nothing that lives", async () => {
    const world = await makeWorld();
    const living = await livingOf(world);
    await plant(world);
    await renewCoordinator(world.vault, {});
    const { findings } = await verifyAll();
    const expected = named ? [named(world)] : [];
    expect(findings).toEqual(expect.arrayContaining(expected.map((one) => expect.objectContaining(one))));
    await runHourly();
    expect(await livingOf(world)).toEqual(living);
    await passDaysQuickly(world.vault, 32);
    expect(await objectsOf(world.vault)).toEqual(living.objects);
    expect((await admin("DELETE", `/v1/admin/vaults/${world.vault}`)).status).toBe(204);
  });
});

it("nobody destroys or restores an Item that exists as a deleted one, and to delete and restore it ends the contradiction", async () => {
  const { vault, call, item, ids } = await makeWorld();
  await deletionOf(vault, ids.item);
  await renewCoordinator(vault, {});
  const path = `/v1/vaults/${vault}/deleted-items/${ids.item}`;
  expect([(await call("DELETE", path)).status, (await call("POST", `${path}/restore`)).status]).toEqual([404, 404]);
  expect((await call("GET", item)).status).toBe(200);
  expect((await call("DELETE", item)).status).toBe(204);
  expect((await call("POST", `${path}/restore`)).status).toBe(200);
  expect((await verifyAll({ vault })).findings).toEqual([]);
});

it("the rows of a vault that is being restored stay, also when a row says that it was deleted", async () => {
  const world = await makeWorld();
  const { vault } = world;
  await env.DB.batch([
    env.DB.prepare("INSERT INTO restores VALUES (?1, 1, '')").bind(vault),
    env.DB.prepare("DELETE FROM vaults WHERE id = ?1").bind(vault),
    env.DB.prepare("INSERT INTO deleted_vaults VALUES (?1, 1)").bind(vault),
  ]);
  const before = await livingOf(world);
  await runHourly();
  expect(await livingOf(world)).toEqual(before);
});
