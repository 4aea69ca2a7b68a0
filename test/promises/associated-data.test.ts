import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { renewCoordinator } from "../support/bindings.ts";
import { admin, type Client, freshVault, LOGIN, makeToken, client } from "../support/service.ts";
import { runSql, selectAll, selectFirst } from "../support/sql.ts";
import { flipped } from "../verify/support/vault.ts";

/**
 * The associated data binds a sealed text to its place, so an attacker who can write to D1 cannot move secrets: a text that
 * was copied to another place does not open (docs/security.md).
 */

const INTEGRITY = { status: 500, message: "integrity: a stored record is damaged or was moved, and cannot be decrypted" };

let call: Client;
let vault: string;
let items: string;
let one: string;
let two: string;

beforeEach(async () => {
  ({ vault, items, call } = await freshVault());
  [one, two] = [await make("One"), await make("Two")];
});

const make = async (title: string): Promise<string> =>
  (await call("POST", items, { body: { ...LOGIN, title, fields: [{ purpose: "PASSWORD", value: `secret of ${title}` }] } })).body
    .id;

const read = async (id: string) => (await call("GET", `${items}/${id}`)).body;

/** Why the webhooks of a vault do not open, if they do not. */
async function brokenOf(of: string): Promise<unknown[]> {
  const { body } = await admin("GET", `/v1/admin/vaults/${of}/webhooks`);
  return body.map(({ broken }: { broken?: string }) => broken);
}

describe("a sealed text", () => {
  /** Each sets columns of the first Item. */
  it.each([
    ["in another Item: its overview", "overview = (SELECT overview FROM items WHERE id = ?2)"],
    ["in another Item: its details", "details = (SELECT details FROM items WHERE id = ?2)"],
    ["in another column: details as overview", "overview = details"],
    ["in another column: overview as details", "details = overview"],
    ["at another version", "version = 9"],
    ["after a change of one character", `details = ${flipped("details")}`],
    ["in another spelling: with a blank in it", "details = substr(details, 1, 60) || ' ' || substr(details, 61)"],
    ["in another spelling: with a line feed at its end", "details = details || char(10)"],
    ["in another spelling: with padding that is too long", "details = details || '===='"],
  ])("does not open %s", async (_, columns) => {
    const { meta } = await runSql(`UPDATE items SET ${columns} WHERE id = ?1 AND ?2 <> ''`, one, two);
    expect(meta.changes).toBe(1);
    expect(await read(one)).toEqual(INTEGRITY);
    expect((await read(two)).title).toBe("Two");
  });

  it("does not open at another version, so that an old text cannot replace the current one", async () => {
    const old = await selectFirst<Record<string, string>>("SELECT overview, details FROM items WHERE id = ?", one);
    await call("PATCH", `${items}/${one}`, { body: [{ op: "replace", path: "/title", value: "New" }] });
    await runSql("UPDATE items SET overview = ?1, details = ?2 WHERE id = ?3", old!["overview"], old!["details"], one);
    expect(await read(one)).toEqual(INTEGRITY);
  });

  it("does not open in another vault", async () => {
    const other = await freshVault();
    await runSql("UPDATE items SET vault_id = ?1 WHERE id = ?2", other.vault, one);
    expect((await other.call("GET", `${other.items}/${one}`)).body).toEqual(INTEGRITY);
  });

  it("of a webhook does not open under another id, nor in another vault", async () => {
    const { id } = (await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: "https://hooks.example.com" } }))
      .body;
    const other = await freshVault();
    await runSql("INSERT INTO webhooks SELECT vault_id, ?2, sealed, 1 FROM webhooks WHERE id = ?1", id, crypto.randomUUID());
    await runSql("INSERT INTO webhooks SELECT ?2, id, sealed, 1 FROM webhooks WHERE id = ?1 AND created_at > 1", id, other.vault);
    expect([await brokenOf(vault), await brokenOf(other.vault)]).toEqual([["integrity", undefined], ["integrity"]]);
  });

  it("does not open under another id", async () => {
    const id = crypto.randomUUID();
    await runSql("UPDATE items SET id = ?1 WHERE id = ?2", id, one);
    expect(await read(id)).toEqual(INTEGRITY);
  });

  it("of a vault does not open in another, nor at another version", async () => {
    const other = await freshVault();
    await runSql("UPDATE vaults SET name = (SELECT name FROM vaults WHERE id = ?1) WHERE id = ?2", vault, other.vault);
    expect((await other.call("GET", `/v1/vaults/${other.vault}`)).body).toEqual(INTEGRITY);
    await runSql("UPDATE vaults SET attribute_version = 7 WHERE id = ?1", vault);
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toEqual(INTEGRITY);
  });

  it("of a vault's name does not open as its description", async () => {
    const other = await freshVault();
    await runSql("UPDATE vaults SET description = name WHERE id = ?1", other.vault);
    expect((await other.call("GET", `/v1/vaults/${other.vault}`)).body).toEqual(INTEGRITY);
  });

  it("of a token does not open in another token's row", async () => {
    const [a, b] = [await makeToken({ [vault]: "r" }, { name: "a" }), await makeToken({ [vault]: "r" }, { name: "b" })];
    await runSql("UPDATE tokens SET sealed = (SELECT sealed FROM tokens WHERE id = ?1) WHERE id = ?2", a.id, b.id);
    const tokens: { id: string; broken?: string }[] = (await admin("GET", "/v1/admin/tokens")).body;
    expect(tokens.filter(({ broken }) => broken !== undefined)).toMatchObject([{ id: b.id, broken: "integrity" }]);
    await runSql("DELETE FROM tokens WHERE id = ?1", b.id);
  });

  it("of an idempotency record does not open for another operation", async () => {
    const headers = { "Idempotency-Key": "once" };
    const body = { ...LOGIN, title: "Three" };
    await call("POST", items, { body, headers });
    await runSql("UPDATE replays SET id = substr(id, 1, 35) || iif(substr(id, 36) = '0', '1', '0') WHERE vault_id = ?1", vault);
    expect((await call("POST", items, { body, headers })).body).toEqual(INTEGRITY);
  });
});

describe("the wrapped keys of a vault", () => {
  it("do not unwrap in another vault, even if its sealed data was copied with them", async () => {
    const other = await freshVault();
    await runSql(
      `UPDATE vaults SET (keys, name, description) =
         (SELECT keys, name, description FROM vaults WHERE id = ?1) WHERE id = ?2`,
      vault,
      other.vault,
    );
    expect((await other.call("GET", other.items)).status).toBe(503);
  });
});

describe("a list", () => {
  it("has an entry of a record that does not open, without any part of it", async () => {
    await runSql("UPDATE items SET overview = details WHERE id = ?1", one);
    const { body } = await call("GET", items);
    expect(body).toContainEqual({ id: one, vault: { id: vault }, version: 1, broken: "integrity" });
    expect(body).toContainEqual(expect.objectContaining({ id: two, title: "Two" }));
  });

  it("opens no details, and is served even if those of every Item are damaged", async () => {
    await runSql("UPDATE items SET details = 'damaged' WHERE vault_id = ?1", vault);
    expect((await call("GET", items)).body).toHaveLength(2);
  });
});

describe("a write to a record that does not open", () => {
  it("is refused, changes nothing, and does not prevent another write", async () => {
    await runSql("UPDATE items SET details = overview WHERE id = ?1", one);
    await renewCoordinator(vault, {});
    const body = [{ op: "replace", path: "/title", value: "New" }];
    const replies = await Promise.all([one, two].map((id) => call("PATCH", `${items}/${id}`, { body })));
    expect(replies.map((reply) => reply.status)).toEqual([500, 200]);
    expect(await env.DB.prepare("SELECT version FROM items WHERE id = ?").bind(one).first("version")).toBe(1);
  });
});

it("a token whose row was deleted is refused", async () => {
  const { id, token } = await makeToken({ [vault]: "r" });
  await runSql("DELETE FROM tokens WHERE id = ?1", id);
  expect((await client(token)("GET", items)).status).toBe(401);
});

it("a row whose id was changed to upper case does not open", async () => {
  await runSql("UPDATE items SET id = upper(id) WHERE id = ?1", one);
  const { body } = await call("GET", items);
  expect(body).toContainEqual({ id: one.toUpperCase(), vault: { id: vault }, version: 1, broken: "integrity" });
  expect(body).not.toContainEqual(expect.objectContaining({ title: "One" }));
});

it("an idempotency record does not open for the key of another token", async () => {
  const other = client((await makeToken({ [vault]: "w" })).token);
  const headers = { "Idempotency-Key": "mine" };
  await call("POST", items, { body: LOGIN, headers });
  const key = await env.DB.prepare("SELECT key FROM replays WHERE vault_id = ?").bind(vault).first("key");
  await other("POST", items, { body: LOGIN, headers });
  // Replaces the record of the other token by that of the first one.
  const results = await selectAll("DELETE FROM replays WHERE vault_id = ? AND key <> ? RETURNING key", vault, key);
  await runSql("UPDATE replays SET key = ?1 WHERE vault_id = ?2", results[0]!["key"], vault);
  expect((await other("POST", items, { body: LOGIN, headers })).body).toEqual(INTEGRITY);
});
