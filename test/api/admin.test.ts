import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { admin, client, freshVault, LOGIN, makeVault, send } from "../support/service.ts";

/** The secret of the operator (contract 8.9, 13.16). That each admin route needs it, and no other one takes it, is in matrix.test.ts. */
describe("The admin routes", () => {
  it("answer 401 to every other spelling of the admin token", async () => {
    const { token } = await freshVault();
    const secret = env.ADMIN_TOKEN;
    const others = ["", "Bearer", "Bearer ", "Bearer wrong", `Basic ${secret}`, secret, `Bearer ${secret}2`, `Bearer ${token}`];
    for (const Authorization of [...others, `Bearer ${secret.toUpperCase()}`])
      expect((await send("GET", "/v1/admin/vaults", { headers: { Authorization } })).body).toEqual({
        status: 401,
        message: "Invalid token signature",
      });
  });

  it.each(["GET", "POST", "PUT"])("answer like an unknown path when ADMIN_TOKEN is not set: %s", async (method) => {
    for (const ADMIN_TOKEN of [undefined, ""])
      for (const call of [admin, client(""), send]) {
        const { body } = await call(method, "/v1/admin/vaults", { env: { ADMIN_TOKEN } });
        expect(body).toEqual((await call(method, "/v1/nothing/here")).body);
      }
  });
});

/** The answer and what is refused (contract 13.12). The order of the list is in vaults.test.ts. */
describe("POST /v1/admin/vaults", () => {
  it("answers 200 with the new vault", async () => {
    const { status, body } = await admin("POST", "/v1/admin/vaults", { body: { name: " N\u{1F511} ", description: "D" } });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: " N\u{1F511} ",
      description: "D",
      attributeVersion: 1,
      contentVersion: 0,
      items: 0,
      type: "USER_CREATED",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: body.createdAt,
      quota: { items: 100_000, bytes: 256 * 1024 ** 2, fileBytes: 10 * 1024 ** 3 },
      usage: { items: 0, bytes: 0, fileBytes: 0 },
      dataKey: { id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/), createdAt: body.createdAt },
      earlierKeys: 0,
    });
  });
});

describe("GET /v1/admin/vaults", () => {
  it("returns every vault as POST returned it", async () => {
    const created = [];
    for (const name of ["One", "Two"]) created.push((await admin("POST", "/v1/admin/vaults", { body: { name } })).body);
    const { status, body } = await admin("GET", "/v1/admin/vaults");
    expect(status).toBe(200);
    expect(body).toEqual(expect.arrayContaining(created));
  });
});

describe("PATCH /v1/admin/vaults/{v}", () => {
  it.each([{ name: "New" }, { description: "New" }, { name: "A", description: "B" }])(
    "changes the attributes of the body and no others: %j",
    async (change) => {
      const { body: before } = await admin("POST", "/v1/admin/vaults", { body: { name: "Old", description: "Old" } });
      const { status, body } = await admin("PATCH", `/v1/admin/vaults/${before.id}`, { body: change });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, ...change, attributeVersion: 2, updatedAt: body.updatedAt });
      expect((await admin("GET", "/v1/admin/vaults")).body).toContainEqual(body);
    },
  );

  it("changes of the Items of the vault the name of the vault alone", async () => {
    const { vault, items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: LOGIN });
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "New" } });
    const renamed = { ...item, vault: { ...item.vault, name: "New" } };
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(renamed);
  });

  it.each([{ name: "" }, { name: 5 }, [], "x"])("refuses the body %j", async (body) => {
    expect((await admin("PATCH", `/v1/admin/vaults/${await makeVault()}`, { body })).status).toBe(400);
  });
});

describe("DELETE /v1/admin/vaults/{v}", () => {
  it("answers 204, and every request to the vault after it is a 404", async () => {
    const { vault, items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: { title: "Gone", category: "LOGIN" } });
    const { status, text } = await admin("DELETE", `/v1/admin/vaults/${vault}`);
    expect([status, text]).toEqual([204, ""]);
    const notFound = { status: 404, message: `vault ${vault} not found` };
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(notFound);
    expect((await call("GET", items)).body).toEqual(notFound);
    expect((await call("POST", items, { body: LOGIN })).body).toEqual(notFound);
    expect((await admin("GET", "/v1/admin/vaults")).text).not.toContain(vault);
  });
});

describe("A vault id in the path of an admin route", () => {
  it.each(["PATCH", "DELETE"])("is accepted in both forms: %s", async (method) => {
    for (const write of [(id: string) => id.toUpperCase(), (id: string) => writeId(id, "connect")]) {
      const path = `/v1/admin/vaults/${write(await makeVault())}`;
      expect((await admin(method, path, { body: method === "PATCH" ? { name: "New" } : undefined })).status).toBeLessThan(300);
    }
  });

  it.each(["PATCH", "DELETE"])("is a 404 that repeats the id when it names no vault: %s", async (method) => {
    for (const id of ["3fa85f64-5717-4562-b3fc-2c963f66afa6", "3FA85F64-5717-4562-B3FC-2C963F66AFA6", "0".repeat(26)]) {
      const { body } = await admin(method, `/v1/admin/vaults/${id}`, { body: method === "PATCH" ? { name: "New" } : undefined });
      expect(body).toEqual({ status: 404, message: `vault ${id} not found` });
    }
  });
});
