import { describe, expect, it } from "vitest";
import { freshVault, LOGIN } from "../support/service.ts";

/** Fields that hold the key of one-time passwords. The codes themselves: test/pure/totp.test.ts. */

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // that of RFC 6238 appendix B
// Until 2033 the second period of so many seconds since 1970 is not over, so the code stays that of the RFC's first vector.
const URI = `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999&issuer=ACME`;
const CODE = "94287082";

const withOtp = (value: unknown, more: object = {}) => ({ ...LOGIN, fields: [{ id: "otp", type: "OTP", value, ...more }] });

/** An Item with such a field, as POST answers. */
async function made(value: unknown, more?: object) {
  const fresh = await freshVault();
  const { status, body } = await fresh.call("POST", fresh.items, { body: withOtp(value, more) });
  return { ...fresh, status, body, path: `${fresh.items}/${body.id}` };
}

describe("a field of type OTP", () => {
  it("comes back byte for byte, with the code of now: POST, GET, PUT, PATCH", async () => {
    const { call, path, vault, body: posted } = await made(URI);
    const put = await call("PUT", path, { body: { ...withOtp(URI), vault: { id: vault } } });
    const patched = await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "T" }] });
    const got = await call("GET", path);
    for (const item of [posted, put.body, patched.body, got.body]) {
      expect(item.fields[0]).toMatchObject({ id: "otp", type: "OTP", value: URI, totp: CODE });
    }
  });

  it("takes a bare secret: six digits", async () => {
    const { body } = await made(SECRET.toUpperCase());
    expect(body.fields[0].value).toBe(SECRET.toUpperCase());
    expect(body.fields[0].totp).toMatch(/^\d{6}$/);
  });

  it("can be written TOTP", async () => {
    expect((await made(URI, { type: "totp" })).body.fields[0]).toMatchObject({ type: "OTP", totp: CODE });
  });

  it("ignores a code that a client sends back", async () => {
    expect((await made(URI, { totp: "000000" })).body.fields[0].totp).toBe(CODE);
  });

  it.each(["", null])("may be empty, and has no code then: %j", async (value) => {
    const { status, body } = await made(value);
    expect([status, body.fields[0].value, body.fields[0].totp]).toEqual([200, "", undefined]);
  });

  it("of which the secret is malformed is a 400 that does not quote it", async () => {
    const { status, body } = await made("otpauth://totp/x?secret=08secret80");
    expect(status).toBe(400);
    expect(body.message).toBe("fields[0].value: is not an otpauth://totp URI or a base32 secret");
  });

  it("cannot be made by a PATCH out of what is no secret, and the Item stays", async () => {
    const { call, path } = await made("No. 1", { type: "STRING" });
    const reply = await call("PATCH", path, { body: [{ op: "replace", path: "/fields/otp/type", value: "OTP" }] });
    expect(reply.status).toBe(400);
    expect((await call("GET", path)).body).toMatchObject({ version: 1, fields: [{ type: "STRING", value: "No. 1" }] });
  });

  it("is not shown in a list", async () => {
    const { call, items } = await made(URI);
    expect(JSON.stringify((await call("GET", items)).body)).not.toContain(CODE);
  });
});

describe("a field of another type", () => {
  it.each(["STRING", "CONCEALED", "URL"])("has no code, whatever it holds: %s", async (type) => {
    expect((await made(URI, { type })).body.fields[0].totp).toBeUndefined();
  });
});
