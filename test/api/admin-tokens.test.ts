import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { admin, client, freshVault, makeToken, makeVault, shareVault } from "../support/service.ts";

const DAY = 24 * 60 * 60;
const YEAR = 31_536_000;

const sharedVault = shareVault();

/** Requests a token that may read the vault that the tests share. `attributes` are added to the body or replace attributes of it. */
async function requestToken(attributes: object) {
  const { vault } = await sharedVault();
  return {
    vault,
    ...(await admin("POST", "/v1/admin/tokens", { body: { name: "n", vaults: { [vault]: "r" }, ...attributes } })),
  };
}

/** The lifetime of a token in seconds. */
const lifetime = (body: { createdAt: string; expiresAt: string }) =>
  (Date.parse(body.expiresAt) - Date.parse(body.createdAt)) / 1000;

/** The requests of contract 13.14. `binding`, `stale` and `delegate` have tests of their own. */
describe("POST /v1/admin/tokens", () => {
  it("answers 200 with the token and its permissions", async () => {
    const { vault, status, body } = await requestToken({ name: "CI" });
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

  it("answers with the vault ids in the form of the token's dialect, and with the token's own id as a UUID (contract 3.6)", async () => {
    const { vault, body } = await requestToken({ dialect: "connect" });
    expect(body.vaults).toEqual({ [writeId(vault, "connect")]: "r" });
    expect((await admin("GET", `/v1/admin/tokens/${body.id}`)).body).toMatchObject({ id: body.id, vaults: { [vault]: "r" } });
  });

  it("answers with a vault id that names nothing as the request wrote it, and GET /v1/token too", async () => {
    for (const dialect of ["uuid", "connect"]) {
      const vaults = { ["1".repeat(26)]: "r" };
      const { status, body } = await requestToken({ dialect, vaults });
      expect([status, body.vaults]).toEqual([200, vaults]);
      expect((await client(body.token)("GET", "/v1/token")).body.vaults).toEqual(vaults);
    }
  });

  it.each([undefined, null])(
    "uses 90 days and the dialect uuid when expiresIn and dialect are %j (contract 8.8)",
    async (absent) => {
      const { body } = await requestToken({ expiresIn: absent, dialect: absent });
      expect(lifetime(body)).toBe(90 * DAY);
      expect(body.dialect).toBe("uuid");
    },
  );

  it.each([1, 2, YEAR - 1, YEAR])("accepts expiresIn: %i", async (expiresIn) => {
    const { status, body } = await requestToken({ expiresIn });
    expect(status).toBe(200);
    expect(lifetime(body)).toBe(expiresIn);
  });

  it("accepts a vault id in both forms and returns the UUID", async () => {
    const vault = await makeVault();
    for (const vaultId of [vault, vault.toUpperCase(), writeId(vault, "connect")]) {
      const { body } = await requestToken({ vaults: { [vaultId]: "rw" } });
      expect(body.vaults).toEqual({ [vault]: "rw" });
      expect((await client(body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
    }
  });

  it("refuses a body that names one vault twice, once in each form of its id", async () => {
    const vault = await makeVault();
    expect((await requestToken({ vaults: { [vault]: "r", [writeId(vault, "connect")]: "rw" } })).status).toBe(400);
  });
});

describe("GET /v1/admin/tokens", () => {
  it("returns the tokens as they were issued, without `token`", async () => {
    const { vault, body: issued } = await requestToken({ name: "Listed", dialect: "connect" });
    const { token, ...rest } = { ...issued, vaults: { [vault]: "r" } };
    const { status, text, body } = await admin("GET", "/v1/admin/tokens");
    expect(status).toBe(200);
    expect(body).toContainEqual(rest);
    for (const part of token.split(".").slice(1)) expect(text).not.toContain(part);
    expect(body.flatMap(Object.keys)).not.toContain("token");
  });
});

describe("DELETE /v1/admin/tokens/{t}", () => {
  it("answers 204, and every request with the token after it is a 401 (contract 8.7)", async () => {
    const { vault, items } = await freshVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    const holder = client(token);
    expect((await holder("GET", items)).status).toBe(200);
    expect(await admin("DELETE", `/v1/admin/tokens/${id}`)).toMatchObject({ status: 204, text: "" });
    for (const path of ["/v1/vaults", `/v1/vaults/${vault}`, items])
      expect((await holder("GET", path)).body).toEqual({ status: 401, message: "Invalid token signature" });
  });

  it("removes the token, and no other token, from the list", async () => {
    const [revoked, kept] = [(await requestToken({})).body, (await requestToken({})).body];
    await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
    const ids = (await admin("GET", "/v1/admin/tokens")).body.map((token: { id: string }) => token.id);
    expect(ids).toContain(kept.id);
    expect(ids).not.toContain(revoked.id);
    expect((await client(kept.token)("GET", "/v1/vaults")).status).toBe(200);
  });

  it("accepts both forms of the id", async () => {
    const { id } = (await requestToken({})).body;
    expect((await admin("DELETE", `/v1/admin/tokens/${writeId(id, "connect")}`)).status).toBe(204);
  });
});
