import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault, nextOf, pagesFrom, type Reply } from "../support/service.ts";
import { runSql } from "../support/sql.ts";
import { flipped } from "../verify/support/vault.ts";

/** Rows of Items that do not open cost lists nothing but themselves (contract 11.10, 14.2, 14.9). */

beforeAll(() => ignoreChecks(true)); // rows are damaged as only a damage of the file does it

const FLIPPED = flipped("overview");

let vault: string;
let items: string;
let uuid: Client;
let connect: Client;
/** The ids of three Items in the order of the list; the second one does not open. */
let ids: string[];

beforeAll(async () => {
  vault = await makeVault();
  items = `/v1/vaults/${vault}/items`;
  uuid = client((await makeToken({ [vault]: "rw" })).token);
  connect = client((await makeToken({ [vault]: "rw" }, { dialect: "connect" })).token);
  const create = async (title: string) =>
    (await uuid("POST", items, { body: { ...LOGIN, title, tags: ["one"] } })).body.id as string;
  const made = [await create("A"), await create("B"), await create("C")];
  ids = made.toSorted();
  await runSql(`UPDATE items SET overview = ${FLIPPED} WHERE id = ?1`, ids[1]!);
});

const titleOf = async (id: string) => (await uuid("GET", `${items}/${id}`)).body.title as string;

describe("a list in which an Item does not open", () => {
  it("has in the dialect uuid its id, vault and version, with what is wrong, in its place", async () => {
    const { status, body, headers } = await uuid("GET", items);
    expect([status, headers.get("Item-Vault-Broken")]).toEqual([200, "1"]);
    expect(body.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(body[1]).toEqual({ id: ids[1], vault: { id: vault }, version: 1, broken: "integrity" });
  });

  it("leaves it out in the dialect connect, and counts it", async () => {
    const { status, body, headers } = await connect("GET", items);
    expect([status, body.length, headers.get("Item-Vault-Broken")]).toEqual([200, 2, "1"]);
  });

  it.each(['tag eq "one"', 'tag eq "none"', 'title co "A"', 'category eq "LOGIN"', "favorite eq true"])(
    "treats it with the filter %s as without a filter",
    async (filter) => {
      const query = `?filter=${encodeURIComponent(filter)}`;
      const found = await uuid("GET", items + query);
      expect([found.status, found.headers.get("Item-Vault-Broken")]).toEqual([200, "1"]);
      expect(found.body).toContainEqual({ id: ids[1], vault: { id: vault }, version: 1, broken: "integrity" });
      const left = await connect("GET", items + query);
      expect([left.status, left.headers.get("Item-Vault-Broken")]).toEqual([200, "1"]);
      expect(left.text).not.toContain("broken");
    },
  );

  it("is 500 for the title of the Item in both dialects, and has the others under theirs", async () => {
    const known = new Set([await titleOf(ids[0]!), await titleOf(ids[2]!)]);
    for (const title of ["A", "B", "C"]) {
      for (const call of [uuid, connect]) {
        const { status, headers, body } = await call("GET", `${items}?filter=${encodeURIComponent(`title eq "${title}"`)}`);
        const expected = known.has(title) ? [200, null, 1] : [500, "integrity", undefined];
        expect([status, headers.get("Item-Vault-Error"), body.length]).toEqual(expected);
      }
    }
  });

  it.each([1, 2])("is the same list page by page, with %i Items a page", async (limit) => {
    for (const [call, expected] of [
      [uuid, 3],
      [connect, 2],
    ] as const) {
      const [found, broken] = [[] as unknown[], [] as string[]];
      for (let path: string | undefined = `${items}?limit=${limit}`; path !== undefined;) {
        const reply: Reply = await call("GET", path);
        found.push(...reply.body);
        broken.push(reply.headers.get("Item-Vault-Broken") ?? "0");
        path = nextOf(reply);
      }
      expect(found).toHaveLength(expected);
      expect(broken.reduce((sum, count) => sum + Number(count), 0)).toBe(1);
    }
  });

  it("is followed page by page over an id that is damaged", async () => {
    const damaged = ids[1]!.replace(/^./, (digit) => (digit === "z" ? "y" : "z"));
    await runSql("UPDATE items SET id = ?2 WHERE id = ?1", ids[1]!, damaged);
    for (const call of [uuid, connect]) expect((await pagesFrom(call, `${items}?limit=1`)).length).toBeGreaterThan(1);
    await runSql("UPDATE items SET id = ?2 WHERE id = ?1", damaged, ids[1]!);
  });
});

describe("other lists", () => {
  it("the list of versions has a version that does not open as broken", async () => {
    const { id } = (await uuid("POST", items, { body: { ...LOGIN, title: "D" } })).body;
    for (const title of ["E", "F"])
      await uuid("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: title }] });
    await runSql(`UPDATE item_versions SET overview = ${FLIPPED} WHERE item_id = ?1 AND version = 2`, id);
    const { status, body } = await uuid("GET", `${items}/${id}/versions`);
    expect(status).toBe(200);
    expect(body[1]).toEqual({ version: 2, current: false, broken: "integrity" });
    expect(body.map(({ title }: { title: string }) => title)).toEqual(["F", undefined, "D"]);
  });

  it.each([
    ["its text is damaged", `UPDATE item_versions SET overview = ${FLIPPED} WHERE item_id = ?1`],
    ["its time is none", "UPDATE deleted_items SET deleted_at = 9223372036854775807 WHERE id = ?1"],
  ])("the list of deleted Items has one that does not open, because %s, as broken", async (_, damage) => {
    const owner = client((await makeToken({ [vault]: "rwd" })).token);
    const [one, other] = [await owner("POST", items, { body: LOGIN }), await owner("POST", items, { body: LOGIN })];
    for (const { body } of [one, other]) await owner("DELETE", `${items}/${body.id}`);
    await runSql(damage, one.body.id);
    const { status, body } = await owner("GET", `/v1/vaults/${vault}/deleted-items`);
    expect(status).toBe(200);
    expect(body.find(({ id }: { id: string }) => id === one.body.id)).toMatchObject({ state: "DELETED", broken: "integrity" });
    expect(body.find(({ id }: { id: string }) => id === other.body.id)).toMatchObject({ title: LOGIN.title });
    const found = await owner("GET", `/v1/vaults/${vault}/deleted-items/${one.body.id}`);
    expect(found.kind).toBe("integrity");
    expect((await admin("GET", "/v1/admin/vaults")).status).toBe(200);
  });
});

it("damaged keys of a vault are refused with a word of the keys", async () => {
  const other = await makeVault();
  const call = client((await makeToken({ [other]: "r" })).token);
  await runSql(`UPDATE vaults SET keys = ${FLIPPED.replaceAll("overview", "keys")} WHERE id = ?1`, other);
  try {
    const { status, text } = await call("GET", `/v1/vaults/${other}/items`);
    expect([status, text]).toEqual([503, expect.stringContaining("a vault's keys cannot be decrypted")]);
  } finally {
    await admin("DELETE", `/v1/admin/vaults/${other}`);
  }
});

describe("a list of several slices", () => {
  it("in each of which an Item does not open ends whole, without the header", async () => {
    const large = await makeVault();
    const seeded = Array.from({ length: 2_100 }, (_, index) => login(large, `T${index}`)).toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
    await seedItems(env, large, seeded);
    const broken = [seeded[1]!.id, seeded[2_050]!.id];
    for (const id of broken) await runSql(`UPDATE items SET overview = ${FLIPPED} WHERE vault_id = ?1 AND id = ?2`, large, id);
    for (const dialect of ["uuid", "connect"] as const) {
      const call = client((await makeToken({ [large]: "r" }, { dialect })).token);
      const { status, body, headers } = await call("GET", `/v1/vaults/${large}/items`);
      expect([status, headers.get("Item-Vault-Broken")]).toEqual([200, null]);
      const listed = seeded.map(({ id }) => id).filter((id) => dialect === "uuid" || !broken.includes(id));
      expect(body.map(({ id }: { id: string }) => id)).toEqual(listed.map((id) => writeId(id, dialect)));
      const entries = body.filter((entry: object) => "broken" in entry);
      const expected = broken.map((id) => ({ id, vault: { id: large }, version: 1, broken: "integrity" }));
      expect(entries).toEqual(dialect === "uuid" ? expected : []);
    }
  });
});
