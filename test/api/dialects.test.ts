import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const SHORT = /^[a-z2-7]{26}$/;

/** The forms in which a request may write an id (contract 3.2). */
const FORMS = {
  UUID: (id: string) => id,
  "upper-case UUID": (id: string) => id.toUpperCase(),
  base32: (id: string) => writeId(id, "connect"),
};
const forms = Object.entries(FORMS).map(([form, write]) => ({ form, write }));

/** Ids of a valid form that name nothing (contract 3.3). */
const UNUSED_IDS = ["00000000000000000000000000", "11111111111111111111111111", "z".repeat(26), "h6uf6zcxc5cwfm74fsld6zvpuz"];

/** Strings that do not have the form of an id. */
const MALFORMED_IDS = [
  "x __proto__ H6UF6ZCXC5CWFM74FSLD6ZVPUY h6uf6zcxc5cwfm74fsld6zvpu= 3fa85f6457174562b3fc2c963f66afa6".split(" "),
  ["a".repeat(25), "a".repeat(27), "{3fa85f64-5717-4562-b3fc-2c963f66afa6}", "3fa85f64-5717-4562-b3fc-2c963f66afag"],
  ["3fa85f64-5717-4562-b3fc-2c963f66afa6%20", "%00", "%zz", "%ff", "a%2Fb"],
].flat();

it("The two forms of an id are those of the example in contract 3.2", async () => {
  const uuid = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  const { body } = await admin("POST", "/v1/admin/tokens", { body: { name: "n", vaults: { h6uf6zcxc5cwfm74fsld6zvpuy: "r" } } });
  expect(body.vaults).toEqual({ [uuid]: "r" });
  expect(writeId(uuid, "connect")).toBe("h6uf6zcxc5cwfm74fsld6zvpuy");
});

describe("An id in a request", () => {
  it.each(forms)("can be written as $form, in the path", async ({ write }) => {
    const { vault, items, call } = await freshVault();
    const { body: item } = await call("POST", `/v1/vaults/${write(vault)}/items`, { body: LOGIN });
    const path = `/v1/vaults/${write(vault)}/items/${write(item.id)}`;
    expect((await call("GET", `/v1/vaults/${write(vault)}`)).body.id).toBe(vault);
    expect((await call("GET", `/v1/vaults/${write(vault)}/items`)).body[0].id).toBe(item.id);
    expect((await call("GET", path)).body).toEqual(item);
    expect((await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } })).body.version).toBe(2);
    expect((await call("PATCH", path, { body: [{ op: "add", path: "/tags/-", value: "t" }] })).body.version).toBe(3);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("GET", items)).body).toEqual([]);
  });

  it.each(forms)("can be written as $form, in the body's vault.id", async ({ write }) => {
    const { vault, items, call } = await freshVault();
    const body = { ...LOGIN, vault: { id: write(vault) } };
    const { status, body: item } = await call("POST", items, { body });
    expect(status).toBe(200);
    expect((await call("PUT", `${items}/${item.id}`, { body })).body).toMatchObject({ version: 2, vault: { id: vault } });
  });

  it.each([1, 2, 3])("in base32 with padding bits other than 0 names nothing: padding %i", async (padding) => {
    const { vault, items, call } = await freshVault("connect");
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const setPaddingBits = (short: string) => short.slice(0, -1) + BASE32[BASE32.indexOf(short.at(-1)!) + padding]!;
    expect((await call("GET", `${items}/${setPaddingBits(id)}`)).body.message).toBe(`item ${setPaddingBits(id)} not found`);
    const other = setPaddingBits(writeId(vault, "connect"));
    expect((await call("GET", `/v1/vaults/${other}/items`)).body.message).toBe(`vault ${other} not found`);
  });

  it.each(UNUSED_IDS)(
    "that has a valid form and names nothing is a 404 of an Item and a list, and a 403 of a vault: %s",
    async (id) => {
      const { items, call } = await freshVault();
      expect((await call("GET", `${items}/${id}`)).body).toEqual({ status: 404, message: `item ${id} not found` });
      const one = await call("GET", `/v1/vaults/${id}/items/${id}`);
      expect(one.body).toEqual({ status: 403, message: `vault ${id} is not in scope` });
      const list = await call("GET", `/v1/vaults/${id}/items`);
      expect(list.body).toEqual({ status: 404, message: `vault ${id} not found` });
    },
  );

  it.each(MALFORMED_IDS)("that does not have the form of an id is a 400: %s", async (id) => {
    const { vault, items, call } = await freshVault();
    for (const path of [`/v1/vaults/${id}`, `/v1/vaults/${id}/items`, `/v1/vaults/${id}/items/${vault}`]) {
      expect((await call("GET", path)).body).toEqual({ status: 400, message: "Invalid Vault UUID" });
    }
    expect((await call("POST", `/v1/vaults/${id}/items`, { body: LOGIN })).body.message).toBe("Invalid Vault UUID");
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const body = { PUT: { ...LOGIN, vault: { id: vault } }, PATCH: [] }[method];
      expect((await call(method, `${items}/${id}`, { body })).body).toEqual({ status: 400, message: "Invalid Item UUID" });
    }
  });
});

/** The ids in answers (contract 3.1). Those of Items are in item-answers.test.ts. */
describe.each([
  { dialect: "uuid", form: UUID },
  { dialect: "connect", form: SHORT },
] as const)("A token of the dialect $dialect", ({ dialect, form }) => {
  it("receives the ids of vaults in the form of its dialect", async () => {
    const vault = await makeVault();
    const call = client((await makeToken({ [vault]: "rw" }, { dialect })).token);
    const id = writeId(vault, dialect);
    expect(id).toMatch(form);
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ id });
    expect((await call("GET", "/v1/vaults")).body).toMatchObject([{ id }]);
  });

  it("receives the ids of an Item that a token of the other dialect wrote in its own form", async () => {
    const { vault, items, call } = await freshVault(dialect === "uuid" ? "connect" : "uuid");
    const { body: item } = await call("POST", items, { body: LOGIN });
    const { token } = await makeToken({ [vault]: "r" }, { dialect });
    const { body } = await client(token)("GET", `${items}/${item.id}`);
    expect(body.id).toMatch(form);
    expect(body.lastEditedBy).toMatch(form);
  });
});

describe("The version in the answer to PUT", () => {
  it.each([
    { dialect: "uuid", expected: [2, 3] },
    { dialect: "connect", expected: [1, 2] },
  ] as const)(
    "is $expected for the first and second PUT in the dialect $dialect, while GET returns the new version",
    async (testCase) => {
      const { vault, items, call } = await freshVault(testCase.dialect);
      const path = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
      for (const [index, expected] of testCase.expected.entries()) {
        const put = await call("PUT", path, { body: { ...LOGIN, title: "Next", vault: { id: vault } } });
        expect(put.body).toMatchObject({ title: "Next", version: expected });
        const get = await call("GET", path);
        expect(get.body.version).toBe(index + 2);
        expect(put.headers.get("ETag")).toBe(get.headers.get("ETag"));
      }
    },
  );

  it.each(["uuid", "connect"] as const)(
    "differs between dialects only for PUT: POST and PATCH answer the new version in %s",
    async (dialect) => {
      const { items, call } = await freshVault(dialect);
      const { body: item } = await call("POST", items, { body: LOGIN });
      expect(item.version).toBe(1);
      const patch = [{ op: "add", path: "/tags/-", value: "t" }];
      expect((await call("PATCH", `${items}/${item.id}`, { body: patch })).body.version).toBe(2);
    },
  );
});
