import type { Field } from "@item-vault/client";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isKeyUri, keyUriOf } from "../../packages/console/src/qr-codes/key-uri.ts";
import { base32 } from "../../src/model/ids.ts";
import { parseTotp } from "../../src/model/totp-parameters.ts";
import { runs } from "../support/runs.ts";
import { field, itemOf } from "./history/items.ts";

/** The key URIs that the console draws as QR codes. */

const SECRET = "JBSWY3DPEHPK3PXP";
const otp = (value: string): Field => ({ id: "otp", type: "OTP", label: "code", value });
const uriOf = (title: string, user: string, value: string) =>
  keyUriOf(otp(value), itemOf({ title, fields: [field("user", user, { purpose: "USERNAME" }), otp(value)] }));

const URI = `otpauth://totp/Acme:ada?secret=${SECRET}&issuer=Acme&period=60`;

/** Title, user name and value of an Item, and the URI. */
const CASES: readonly (readonly [string, string, string, string | undefined])[] = [
  ["GitHub", "ada@example.com", SECRET, `otpauth://totp/GitHub:ada%40example.com?secret=${SECRET}&issuer=GitHub`],
  ["GitHub", "", SECRET, `otpauth://totp/GitHub?secret=${SECRET}&issuer=GitHub`],
  ["", "ada", SECRET, `otpauth://totp/ada?secret=${SECRET}`],
  ["", "", "jbsw y3dp-ehpk 3pxp", `otpauth://totp/?secret=${SECRET}`],
  ["Git: hub & co", "a:b", SECRET, `otpauth://totp/Git%20hub%20%26%20co:a%20b?secret=${SECRET}&issuer=Git%20hub%20%26%20co`],
  ["Other", "other", URI, URI],
  ["GitHub", "ada", "otpauth://hotp/x?secret=A", undefined],
  ["GitHub", "ada", "no key!", undefined],
];

describe("the key URI of a one-time password", () => {
  it.each(CASES)("of “%s”, “%s” and “%s” is %s", (title, user, value, uri) => {
    expect(uriOf(title, user, value)).toBe(uri);
  });

  it("gives the same codes as the value, and only the secret, the issuer and the account are in it", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), text, text, (secret, title, user) => {
        const value = base32(secret);
        const uri = uriOf(title, user, value)!;
        expect(isKeyUri(uri)).toBe(true);
        expect(parseTotp(uri)).toEqual(parseTotp(value));
        expect(new URL(uri).pathname.split(":").length).toBeLessThan(3);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });
});
