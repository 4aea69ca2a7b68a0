import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";

const DAY = 24 * 60 * 60;
const YEAR = 31_536_000;

/** Asks for a token on a fresh vault; `given` says what is special about it. */
async function ask(given: object) {
  const vault = await makeVault();
  return { vault, ...(await admin("POST", "/v1/admin/tokens", { body: { name: "n", vaults: { [vault]: "r" }, ...given } })) };
}

const lifetime = (body: { createdAt: string; expiresAt: string }) =>
  (Date.parse(body.expiresAt) - Date.parse(body.createdAt)) / 1000;

const some = (size: number) => Object.fromEntries(Array.from({ length: size }, () => [crypto.randomUUID(), "r"]));

describe("POST /v1/admin/tokens", () => {
  it("answers 200 with the token and what it may", async () => {
    const { vault, status, body } = await ask({ name: "CI" });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: "CI",
      dialect: "uuid",
      vaults: { [vault]: "r" },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect((await client(body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it.each([undefined, null])("gives 90 days and the dialect uuid when they are %j", async (absent) => {
    const { body } = await ask({ expiresIn: absent, dialect: absent });
    expect(lifetime(body)).toBe(90 * DAY);
    expect(body.dialect).toBe("uuid");
  });

  it.each([1, 2, YEAR - 1, YEAR])("takes expiresIn: %i", async (expiresIn) => {
    const { status, body } = await ask({ expiresIn });
    expect(status).toBe(200);
    expect(lifetime(body)).toBe(expiresIn);
  });

  it.each([{ expiresIn: 0 }, { expiresIn: -1 }, { expiresIn: YEAR + 1 }, { expiresIn: 1.5 }, { expiresIn: "60" }])(
    "refuses %j",
    async (given) => {
      const { status, body } = await ask(given);
      expect(status).toBe(400);
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/^expiresIn: /) });
    },
  );

  it.each([{ name: "" }, { name: null }, { name: 5 }, { dialect: "UUID" }, { dialect: "" }, { dialect: "base32" }])(
    "refuses %j",
    async (given) => {
      const { status, body } = await ask(given);
      expect(status).toBe(400);
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/^(name|dialect): /) });
    },
  );

  it.each(["", "x", "R", "wr", "rwx", "admin", null, true, ["r"]])("refuses the permission %j", async (permission) => {
    const { status, body } = await ask({ vaults: { [await makeVault()]: permission } });
    expect(status).toBe(400);
    expect(body.message).toMatch(/^vaults/);
  });

  it.each(["x", "", "*", "__proto__", "constructor", "3fa85f6457174562b3fc2c963f66afa6", "H6UF6ZCXC5CWFM74FSLD6ZVPUY"])(
    "refuses the vault id %j",
    async (id) => {
      const { status, body } = await ask({ vaults: { [id]: "r" } });
      expect(status).toBe(400);
      expect(body.message).toMatch(/^vaults/);
    },
  );

  it.each([undefined, null, [], "r", 5])("refuses the vaults %j", async (vaults) => {
    const { status, body } = await ask({ vaults });
    expect(status).toBe(400);
    expect(body.message).toMatch(/^vaults/);
  });

  it("takes the id of a vault in either form, and answers with the UUID", async () => {
    const vault = await makeVault();
    for (const written of [vault, vault.toUpperCase(), writeId(vault, "connect")]) {
      const { body } = await ask({ vaults: { [written]: "rw" } });
      expect(body.vaults).toEqual({ [vault]: "rw" });
      expect((await client(body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
    }
  });

  it("refuses a vault that is named twice, in two forms", async () => {
    const vault = await makeVault();
    expect((await ask({ vaults: { [vault]: "r", [writeId(vault, "connect")]: "rw" } })).status).toBe(400);
  });

  it("takes 100 vaults, and refuses 101", async () => {
    expect((await ask({ vaults: some(100) })).status).toBe(200);
    const { status, body } = await ask({ vaults: some(101) });
    expect(status).toBe(400);
    expect(body.message).toContain("100");
  });
});

describe("GET /v1/admin/tokens", () => {
  it("lists the tokens as they were issued, but never their text", async () => {
    const { token, ...rest } = (await ask({ name: "Listed", dialect: "connect" })).body;
    const { status, text, body } = await admin("GET", "/v1/admin/tokens");
    expect(status).toBe(200);
    expect(body).toContainEqual(rest);
    for (const part of token.split(".").slice(1)) expect(text).not.toContain(part);
    expect(body.flatMap(Object.keys)).not.toContain("token");
  });
});

describe("DELETE /v1/admin/tokens/{t}", () => {
  it("answers 204, and the very next request of the token is a 401", async () => {
    const { vault, items, call } = await freshVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    const holder = client(token);
    const { body: item } = await holder("POST", items, { body: LOGIN });
    const { status, text } = await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect([status, text]).toEqual([204, ""]);
    for (const [method, path, body] of [
      ["GET", "/v1/vaults"],
      ["GET", `/v1/vaults/${vault}`],
      ["GET", items],
      ["GET", `${items}/${item.id}`],
      ["POST", items, LOGIN],
      ["PUT", `${items}/${item.id}`, { ...LOGIN, vault: { id: vault } }],
      ["PATCH", `${items}/${item.id}`, []],
      ["DELETE", `${items}/${item.id}`],
    ] as const) {
      expect((await holder(method, path, { body })).body).toEqual({ status: 401, message: "Invalid token signature" });
    }
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(item);
  });

  it("takes the token off the list, and no other", async () => {
    const [gone, kept] = [(await ask({})).body, (await ask({})).body];
    await admin("DELETE", `/v1/admin/tokens/${gone.id}`);
    const ids = (await admin("GET", "/v1/admin/tokens")).body.map((token: { id: string }) => token.id);
    expect(ids).toContain(kept.id);
    expect(ids).not.toContain(gone.id);
    expect((await client(kept.token)("GET", "/v1/vaults")).status).toBe(200);
  });

  it("takes either form of the id", async () => {
    const { id } = (await ask({})).body;
    expect((await admin("DELETE", `/v1/admin/tokens/${writeId(id, "connect")}`)).status).toBe(204);
  });

  it("of a token that is not there is a 404, of no form of an id a 400", async () => {
    const { id } = (await ask({})).body;
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).body).toEqual({ status: 404, message: `token ${id} not found` });
    expect((await admin("DELETE", "/v1/admin/tokens/x")).status).toBe(400);
  });
});
