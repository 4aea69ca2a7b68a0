import { describe, expect, it } from "vitest";
import { LOGIN, shareVault } from "../support/service.ts";

/** Fields of type OTP (contract 2.11). test/pure/totp.test.ts checks how the codes are computed. */

const sharedVault = shareVault();

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // the secret of RFC 6238 appendix B
// With a period of 999,999,999 seconds the counter is 1 until 2033, so the code is that of the first test vector of the RFC.
const URI = `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999&issuer=ACME`;
const CODE = "94287082";

const withOtp = (value: unknown, more: object = {}) => ({ ...LOGIN, fields: [{ id: "otp", type: "OTP", value, ...more }] });

/** Creates an Item with an OTP field. Returns the response and the path of the Item. */
async function createWithOtp(value: unknown, more?: object) {
  const fresh = await sharedVault();
  const { status, body } = await fresh.call("POST", fresh.items, { body: withOtp(value, more) });
  return { ...fresh, status, body, path: `${fresh.items}/${body.id}` };
}

describe("a field of type OTP", () => {
  it("is returned byte for byte with the current code by POST, GET, PUT and PATCH", async () => {
    const { call, path, vault, body: posted } = await createWithOtp(URI);
    const put = await call("PUT", path, { body: { ...withOtp(URI), vault: { id: vault } } });
    const patched = await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "T" }] });
    const read = await call("GET", path);
    for (const item of [posted, put.body, patched.body, read.body]) {
      expect(item.fields[0]).toMatchObject({ id: "otp", type: "OTP", value: URI, totp: CODE });
    }
  });

  it("accepts a base32 secret, whose codes have six digits", async () => {
    const { body } = await createWithOtp(SECRET.toUpperCase());
    expect(body.fields[0].value).toBe(SECRET.toUpperCase());
    expect(body.fields[0].totp).toMatch(/^\d{6}$/);
  });

  it("may be written as type TOTP", async () => {
    expect((await createWithOtp(URI, { type: "totp" })).body.fields[0]).toMatchObject({ type: "OTP", totp: CODE });
  });

  it("ignores a code in the request", async () => {
    expect((await createWithOtp(URI, { totp: "000000" })).body.fields[0].totp).toBe(CODE);
  });

  it.each(["", null])("may be empty and then has no code: %j", async (value) => {
    const { status, body } = await createWithOtp(value);
    expect([status, body.fields[0].value, body.fields[0].totp]).toEqual([200, "", undefined]);
  });

  it("with a malformed secret is a 400 that does not contain the secret", async () => {
    const { status, body } = await createWithOtp("otpauth://totp/x?secret=08secret80");
    expect(status).toBe(400);
    expect(body.message).toBe("fields[0].value: is not an otpauth://totp URI or a base32 secret");
  });

  it("cannot be made by PATCH from a field whose value is not a secret; the Item is unchanged", async () => {
    const { call, path } = await createWithOtp("No. 1", { type: "STRING" });
    const reply = await call("PATCH", path, { body: [{ op: "replace", path: "/fields/otp/type", value: "OTP" }] });
    expect(reply.status).toBe(400);
    expect((await call("GET", path)).body).toMatchObject({ version: 1, fields: [{ type: "STRING", value: "No. 1" }] });
  });

  it("is not returned in a list", async () => {
    const { call, items } = await createWithOtp(URI);
    expect(JSON.stringify((await call("GET", items)).body)).not.toContain(CODE);
  });
});

describe("a field of another type", () => {
  it.each(["STRING", "CONCEALED", "URL"])("has no code, even if its value is an otpauth URI: %s", async (type) => {
    expect((await createWithOtp(URI, { type })).body.fields[0].totp).toBeUndefined();
  });
});
