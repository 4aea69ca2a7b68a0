import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { base32, idBytes } from "../../src/model/ids.ts";
import { admin, type Client, client, makeToken, makeVault, type Reply, outcome } from "../support/service.ts";

/** `POST /v1/resolve` (contract 16.1, 16.2, 16.4, 16.5, 16.9, 16.11 and 16.13): many references in one request. */

let prod: string;
let dev: string;
let other: string;
let call: Client;
let token: { id: string; token: string };
/** The ids of Items by their titles. */
const ids: Record<string, string> = {};

const OTP = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

async function makeItem(as: Client, vault: string, title: string, more: object = {}): Promise<string> {
  const body = { title, category: "LOGIN", fields: [{ purpose: "PASSWORD", value: `password of ${title}` }], ...more };
  const { body: item } = await as("POST", `/v1/vaults/${vault}/items`, { body });
  return (ids[title] = item.id);
}

const resolve = (references: readonly unknown[], as = call, headers = {}): Promise<Reply> =>
  as("POST", "/v1/resolve", { body: { references }, headers });

/** The values, or the status and the message, of the answer. */
async function values(references: readonly string[], as = call): Promise<unknown[]> {
  const { status, body } = await resolve(references, as);
  expect(status).toBe(200);
  expect(body.values.map(({ reference }: any) => reference)).toEqual(references);
  return body.values.map(({ value, status: refused, message }: any) => value ?? [refused, message]);
}

const short = (id: string): string => base32(idBytes(id));

const none = (part: string) => [404, `The reference names no ${part}`];
const several = (parts: string) => [409, `The reference names several ${parts}: use an id`];
const noVault = none("vault that the token reads");

beforeAll(async () => {
  [prod, dev, other] = [await makeVault("Production"), await makeVault("Dev"), await makeVault("Other")];
  const [twin, twin2] = [await makeVault("Twin"), await makeVault("TWIN")];
  token = await makeToken({ [prod]: "rw", [dev]: "rw", [twin]: "r", [twin2]: "rw" });
  call = client(token.token);
  const owner = client((await makeToken({ [other]: "rw" })).token);
  await makeItem(owner, other, "Hidden");
  await makeItem(call, prod, "Database", {
    sections: [{ id: "s1", label: "Admin" }],
    fields: [
      { purpose: "PASSWORD", value: "p1" },
      { id: "f1", label: "Email", value: "m1" },
      { id: "f2", label: "email", value: "m2", section: { id: "s1" } },
      { id: "f3", label: "Code", type: "OTP", value: OTP, section: { id: "s1" } },
      { id: "f4", label: "Empty" },
    ],
  });
  await makeItem(call, dev, "Database");
  await makeItem(call, prod, "Straße 1");
  await makeItem(call, prod, "ΟΔΟΣ");
  await makeItem(call, prod, "Same");
  await makeItem(call, prod, "SAME");
  for (let made = 0; made < 4; made++) await makeItem(call, prod, "Many");
  await makeItem(call, twin2, "In a twin");
});

describe("a resolved reference", () => {
  it("has the value of its field, in the order of the request, and each as often as it is asked for", async () => {
    expect(
      await values([
        "op://production/DATABASE/password",
        "op://Dev/Database/password",
        "op://Production/Database/Admin/email",
        "op://Production/Database/email",
        "op://Production/Database/empty",
        "op://production/database/PASSWORD",
        "op://Dev/Database/password",
      ]),
    ).toEqual(["p1", "password of Database", "m2", "m1", "", "p1", "password of Database"]);
  });

  it("may have blanks and line breaks around it, and a scheme in capitals: its entry has the text of the request", async () => {
    expect(await values([" op://Dev/Database/password \n", "\r\n\tOP://Dev/Database/password"])).toEqual(
      Array(2).fill("password of Database"),
    );
  });

  it("names vaults, Items, sections and fields by their ids, in both forms", async () => {
    const item = (await call("GET", `/v1/vaults/${prod}/items?filter=title+eq+"Database"`)).body[0].id;
    expect(
      await values([
        `op://${prod}/${item}/s1/f2`,
        `op://${short(prod)}/${short(item)}/f1`,
        `op://${prod.toUpperCase()}/${item.toUpperCase()}/F1`,
        `op://Production/${short(item)}/password`,
        `op://${prod}/database/password`,
      ]),
    ).toEqual(["m2", "m1", "m1", "p1", "p1"]);
  });

  it("has the attribute that it asks for", async () => {
    const [type, label, otp] = (await values([
      "op://Production/Database/Code?attribute=type",
      "op://Production/Database/email?attribute=label",
      "op://Production/Database/admin/code?attribute=otp",
    ])) as string[];
    expect([type, label]).toEqual(["OTP", "Email"]);
    expect(otp).toMatch(/^\d{6}$/);
  });

  it("finds titles that a name folds to", async () => {
    expect(await values(["op://production/strasse 1/password"])).toEqual(["password of Straße 1"]);
  });

  it("names a vault in every normalization of its name", async () => {
    const vault = await makeVault("B\u00fcro");
    const reader = client((await makeToken({ [vault]: "rw" })).token);
    await makeItem(reader, vault, "Door");
    const references = ["NFC", "NFD"].map((form) => `op://${"B\u00fcro".normalize(form)}/door/password`);
    expect(new Set(references).size).toBe(2);
    expect(await values(references, reader)).toEqual(["password of Door", "password of Door"]);
  });

  it("is found at once after its Item was renamed, and no more under the earlier title", async () => {
    const id = await makeItem(call, dev, "Before");
    expect(await values(["op://dev/before/password"])).toEqual(["password of Before"]);
    await call("PATCH", `/v1/vaults/${dev}/items/${id}`, { body: [{ op: "replace", path: "/title", value: "After" }] });
    expect(await values(["op://dev/AFTER/password", "op://dev/before/password"])).toEqual([
      "password of Before",
      none("Item of the vault"),
    ]);
    await call("DELETE", `/v1/vaults/${dev}/items/${id}`);
    expect(await values(["op://dev/after/password", `op://dev/${id}/password`])).toEqual([
      none("Item of the vault"),
      none("Item of the vault"),
    ]);
  });

  it("has the form of the token's dialect", async () => {
    const fields = [{ id: "day", label: "Day", type: "DATE", value: "2026-01-02" }];
    await makeItem(call, dev, "Dates", { fields });
    const connect = client((await makeToken({ [dev]: "r" }, { dialect: "connect" })).token);
    expect(await values(["op://dev/dates/day"], connect)).toEqual(["1767355200"]);
    expect(await values(["op://dev/dates/day"])).toEqual(["2026-01-02"]);
  });

  it("ignores an archived Item, except by its id", async () => {
    const [archived, live] = [await makeItem(call, dev, "Retired"), await makeItem(call, dev, "Retired")];
    await call("POST", `/v1/vaults/${dev}/items/${archived}/archive`);
    expect(await values(["op://dev/retired/password", `op://dev/${archived}/password`])).toEqual([
      "password of Retired",
      "password of Retired",
    ]);
    await call("DELETE", `/v1/vaults/${dev}/items/${live}`);
    expect(await values(["op://dev/retired/password"])).toEqual([none("Item of the vault")]);
  });

  it("has no value with three Items of its title, also when only one of them is not archived (contract 16.5)", async () => {
    const [first, second] = [await makeItem(call, dev, "Thrice"), await makeItem(call, dev, "Thrice")];
    for (const id of [first, second]) await call("POST", `/v1/vaults/${dev}/items/${id}/archive`);
    await makeItem(call, dev, "Thrice");
    expect(await values(["op://dev/thrice/password"])).toEqual([several("Items of the vault")]);
  });

  it("has its value also when the description of the vault does not open", async () => {
    const vault = await makeVault("Undescribed");
    const own = client((await makeToken({ [vault]: "rw" })).token);
    await makeItem(own, vault, "Item");
    await env.DB.prepare("UPDATE vaults SET description = substr(description, 9) || '=' WHERE id = ?").bind(vault).run();
    expect(await values(["op://undescribed/item/password"], own)).toEqual(["password of Item"]);
  });
});

describe("a reference that has no value", () => {
  it("has its own status and message, and the others have their values", async () => {
    expect(
      await values([
        "op://Production/Database/password",
        "nonsense",
        "op://Nowhere/Database/password",
        "op://Production/Nothing/password",
        "op://Production/Database/nothing",
        "op://Production/Database/nowhere/password",
        "op://Production/Same/password",
        "op://Production/Many/password",
        "op://Twin/In a twin/password",
        "op://Production/Database/password?attribute=otp",
        "op://Production/Database/password?attribute=x",
        "op://Production/\u039f\u0394\u039f\u03a3/password",
        "op://Production/Database!/password",
      ]),
    ).toEqual([
      "p1",
      [400, "the reference does not begin with op://"],
      noVault,
      none("Item of the vault"),
      none("field or File of the Item"),
      none("section of the Item"),
      several("Items of the vault"),
      several("Items of the vault"),
      several("vaults"),
      [400, "the field has no one-time password"],
      [400, "the attribute is none of value, type, label and otp"],
      "password of \u039f\u0394\u039f\u03a3",
      [400, "the item has a character other than letters, digits, -, _, . and space: use its id"],
    ]);
  });

  it("has a value again when it is made unambiguous by an id", async () => {
    expect(await values([`op://Production/${ids["SAME"]}/password`])).toEqual(["password of SAME"]);
  });

  it("to a vault that the token does not read is answered like one to a vault that does not exist", async () => {
    const writer = client((await makeToken({ [other]: "w", [dev]: "r" })).token);
    const [byId, byName, missing] = await values(
      [`op://${other}/Hidden/password`, "op://Other/Hidden/password", `op://${crypto.randomUUID()}/Hidden/password`],
      writer,
    );
    expect([byId, byName, missing]).toEqual([noVault, noVault, noVault]);
  });

  // Only ids: a reference that names a vault by its name has all vaults of the token loaded, and no other.
  it.each(["alone", "beside one to a vault that the token reads"])(
    "to a vault that the token does not read has no value when all references name vaults by their ids: %s",
    async (beside) => {
      const writer = client((await makeToken({ [other]: "w", [dev]: "r" })).token);
      const stranger = client((await makeToken({ [dev]: "r" })).token);
      const more = beside === "alone" ? [] : [`op://${dev}/Database/password`];
      for (const as of [writer, stranger])
        for (const vault of [other, other.toUpperCase(), short(other)])
          for (const item of ["Hidden", ids["Hidden"]!]) {
            const found = await values([`op://${vault}/${item}/password`, ...more], as);
            expect(found).toEqual([noVault, ...more.map(() => "password of Database")]);
          }
    },
  );

  it("names a vault that the token names and that was deleted", async () => {
    const gone = await makeVault("Gone");
    const reader = client((await makeToken({ [gone]: "r" })).token);
    await admin("DELETE", `/v1/admin/vaults/${gone}`);
    expect(await values([`op://${gone}/x/y`, "op://gone/x/y"], reader)).toEqual([noVault, noVault]);
  });

  it("is an integrity failure when its Item or vault does not open, and the others have their values", async () => {
    const [vault, broken] = [await makeVault("Damaged"), await makeVault("Broken")];
    const own = client((await makeToken({ [vault]: "rw", [broken]: "r" })).token);
    const [bad] = [await makeItem(own, vault, "Bad"), await makeItem(own, vault, "Good")];
    await env.DB.prepare("UPDATE items SET details = substr(details, 9) || '=' WHERE id = ?").bind(bad).run();
    const integrity = [500, "integrity: a stored record is damaged or was moved, and cannot be decrypted"];
    const asked = ["op://damaged/bad/password", `op://damaged/${bad}/password`, "op://damaged/good/password"];
    expect(await values(asked, own)).toEqual([integrity, integrity, "password of Good"]);
    await env.DB.prepare("UPDATE vaults SET name = substr(name, 9) || '=' WHERE id = ?").bind(broken).run();
    expect(await values(["op://broken/x/y", `op://${broken}/x/y`, "op://damaged/good/password"], own)).toEqual([
      integrity,
      [404, expect.any(String)], // by its id, the name of the vault is not needed
      "password of Good",
    ]);
  });
});

describe("a request to resolve", () => {
  it("without references has no values", async () => {
    expect((await resolve([])).body).toEqual({ values: [] });
  });

  it.each([
    ["no object", [], "the body: "],
    ["no list", { references: "op://a/b/c" }, "references: "],
    ["nothing", {}, "references: "],
    ["a number", { references: ["op://a/b/c", 1] }, "references[1]: "],
    ["101 references", { references: Array.from({ length: 101 }, () => "op://a/b/c") }, "references: has more than 100 entries"],
    ["a long reference", { references: [`op://a/b/${"c".repeat(4096)}`] }, "references[0]: is longer than 4096 bytes"],
  ])("is a 400 with %s", async (_, body, message) => {
    const reply = await call("POST", "/v1/resolve", { body });
    expect(outcome(reply)).toEqual([400, "invalid"]);
    expect(reply.body.message).toContain(message);
  });

  it("is a 401 when its token was revoked, also without references", async () => {
    const revoked = await makeToken({ [dev]: "r" });
    await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
    for (const references of [[], ["op://dev/database/password"], ["nonsense"]])
      expect((await resolve(references, client(revoked.token))).status).toBe(401);
  });

  it("has an ETag of the Items and statuses, and If-None-Match answers 304 until one changes", async () => {
    const id = await makeItem(call, dev, "Tagged");
    const references = ["op://dev/tagged/password", "op://dev/later/password"];
    const tag = (await resolve(references)).headers.get("ETag")!;
    expect(tag).toMatch(/^"[\w+/=]+"$/);
    const again = () => resolve(references, call, { "If-None-Match": `W/${tag}, "x"` });
    expect([(await again()).status, (await again()).text, (await again()).headers.get("ETag")]).toEqual([304, "", tag]);
    expect((await resolve(references.toReversed())).headers.get("ETag")).not.toBe(tag);
    await makeItem(call, dev, "Later");
    const later = (await again()).headers.get("ETag");
    expect(later).not.toBe(tag);
    await call("PATCH", `/v1/vaults/${dev}/items/${id}`, { body: [{ op: "replace", path: "/favorite", value: true }] });
    expect((await again()).status).toBe(200);
  });

  it("has another ETag for another Item of the same version, as a restored database has it: the tag depends on the nonce", async () => {
    const id = await makeItem(call, dev, "Restored");
    const path = `/v1/vaults/${dev}/items/${id}`;
    const write = (value: string) => call("PATCH", path, { body: [{ op: "replace", path: "/fields/password/value", value }] });
    const columns = "version = ?2, overview = ?3, details = ?4";
    const row = (await env.DB.prepare("SELECT * FROM items WHERE id = ?")
      .bind(id)
      .first<{ version: number; overview: string; details: string }>())!;
    await write("before");
    const references = [`op://dev/${id}/password`];
    const before = await resolve(references);
    await env.DB.batch([
      env.DB.prepare(`UPDATE items SET ${columns} WHERE id = ?1`).bind(id, row.version, row.overview, row.details),
      env.DB.prepare("DELETE FROM item_versions WHERE item_id = ?").bind(id),
    ]);
    await evictDurableObject(env.COORDINATOR.getByName(dev));
    expect(await write("after")).toMatchObject({ status: 200, body: { version: 2 } });
    const after = await resolve(references, call, { "If-None-Match": before.headers.get("ETag")! });
    expect([after.status, after.body?.values[0].value]).toEqual([200, "after"]);
  });

  it("has no ETag when a reference asks for a one-time password", async () => {
    const { headers, status } = await resolve(["op://Production/Database/Code?attribute=otp"], call, { "If-None-Match": "*" });
    expect([status, headers.get("ETag")]).toEqual([200, null]);
  });

  it("counts as one request for each reference in the rate limit", async () => {
    const own = client((await makeToken({ [dev]: "r" })).token);
    let counted = 0;
    const counting: RateLimit = { limit: async () => ({ success: ++counted <= 3 }) };
    const references = Array.from({ length: 100 }, () => "op://dev/database/password");
    const send = () => own("POST", "/v1/resolve", { body: { references }, env: { TOKEN_RATE: counting } });
    expect([(await send()).status, counted]).toEqual([200, 2]);
    expect([(await send()).status, counted]).toEqual([429, 4]);
  });
});

describe("an index of titles that was swapped between two Items", () => {
  it.each([
    ["the folded one", "other.folded_index", "items.title_index"],
    ["the folded one with the other", "other.folded_index", "other.title_index"],
  ])("gives no value of another Item: %s", async (_, folded, title) => {
    const vault = await makeVault("Swapped");
    const reader = client((await makeToken({ [vault]: "rw" })).token);
    for (const name of ["First", "Second"]) await makeItem(reader, vault, name);
    const references = ["First", "Second"].map((name) => `op://${vault}/${name}/password`);
    expect(await values(references, reader)).toEqual(["password of First", "password of Second"]);
    const swap = `
      UPDATE items SET folded_index = ${folded}, title_index = ${title} FROM items AS other
      WHERE items.vault_id = ?1 AND other.vault_id = ?1 AND other.id <> items.id`;
    expect((await env.DB.prepare(swap).bind(vault).run()).meta.changes).toBe(2);
    expect(await values(references, reader)).toEqual([none("Item of the vault"), none("Item of the vault")]);
  });
});
