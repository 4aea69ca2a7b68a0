import * as fc from "fast-check";
import { Secret, TOTP, URI } from "otpauth";
import { describe, expect, it } from "vitest";
import { isDate } from "../../src/model/field-types.ts";
import { base32 } from "../../src/model/ids.ts";
import { parseTotp } from "../../src/model/totp-parameters.ts";
import { currentCode } from "../../src/model/totp.ts";
import { CHARACTER } from "../support/characters.ts";
import { runs } from "../support/runs.ts";

/** Values of fields (contract 2.10, 2.11): dates, and one-time codes (RFC 6238) with the forms of their secrets. */

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

/** Contract 2.10: test/api/items-fields.test.ts has the other forms, and the values of a MONTH_YEAR. */
describe("a DATE", () => {
  it("is any day of the calendar and no other one", () => {
    const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (const year of [1, 4, 99, 100, 1582, 1900, 2000, 2023, 2024, 2100, 9996, 9999]) {
      for (let month = 0; month <= 13; month++) {
        const days = month === 2 && isLeap(year) ? 29 : (lengths[month - 1] ?? 0);
        for (let day = 0; day <= 32; day++) {
          const value = [String(year).padStart(4, "0"), month, day].map((part) => String(part).padStart(2, "0")).join("-");
          expect([value, isDate(value)]).toEqual([value, day >= 1 && day <= days]);
        }
      }
    }
  });

  it("is every Unix second of the years 0000 to 9999", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
        expect(isDate(String(seconds))).toBe(true);
      }),
    );
  });

  it.each("02024-01-01 - --1 NaN Infinity 1234567890123 \u0662\u0660\u0662\u0664-01-01".split(" "))("is not %s", (value) => {
    expect(isDate(value)).toBe(false);
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);

/** The seeds of RFC 6238 appendix B: repeated digits, with the length of the hash's output in bytes. */
const SEEDS = { SHA1: 20, SHA256: 32, SHA512: 64 } as const;
const seed = (algorithm: keyof typeof SEEDS) => base32(bytes("1234567890".repeat(7).slice(0, SEEDS[algorithm])));

/** A key URI with one more parameter. */
const uri = (parameter: string) => `otpauth://totp/x?secret=${seed("SHA1")}&${parameter}`;

const VECTORS: readonly (readonly [seconds: number, sha1: string, sha256: string, sha512: string])[] = [
  [59, "94287082", "46119246", "90693936"],
  [1111111109, "07081804", "68084774", "25091201"],
  [1111111111, "14050471", "67062674", "99943326"],
  [1234567890, "89005924", "91819424", "93441116"],
  [2000000000, "69279037", "90698825", "38618901"],
  [20000000000, "65353130", "77737706", "47863826"],
];

describe("a one-time code", () => {
  it.each(VECTORS)("equals the test vectors of RFC 6238 appendix B at %i s", (seconds, ...codes) => {
    const computed = (Object.keys(SEEDS) as (keyof typeof SEEDS)[]).map((algorithm) =>
      currentCode(`otpauth://totp/x?secret=${seed(algorithm)}&algorithm=${algorithm}&digits=8`, seconds * 1000),
    );
    expect(computed).toEqual(codes);
  });

  it("of a secret without a URI uses SHA-1, 6 digits and a period of 30 seconds", () => {
    expect([29_999, 30_000, 59_999].map((now) => currentCode(seed("SHA1"), now))).toEqual(["755224", "287082", "287082"]);
  });
});

describe("parseTotp", () => {
  const CODE = currentCode(seed("SHA1"), 59_000);
  it.each([
    ["a secret in upper case", seed("SHA1").toUpperCase()],
    ["a secret in groups", seed("SHA1").match(/.{4}/g)!.join(" ")],
    ["a secret with hyphens", seed("SHA1").match(/.{4}/g)!.join("-")],
    ["a padded secret", `${seed("SHA1")}======`],
    ["a URI without a label", `otpauth://totp/?secret=${seed("SHA1")}`],
    ["a URI with a label and an issuer", `otpauth://totp/ACME%20Co:ada@example.com?secret=${seed("SHA1")}&issuer=ACME%20Co`],
    ["a URI with unescaped blanks and a colon", `otpauth://totp/ACME Co: ada?issuer=ACME Co&secret=${seed("SHA1")}`],
    ["a URI in mixed case", `OTPAUTH://TOTP/x?SECRET=${seed("SHA1").toUpperCase()}&Algorithm=sha1`],
    ["a URI with the algorithm HMAC-SHA1", `otpauth://totp/x?secret=${seed("SHA1")}&algorithm=HMAC-SHA1`],
    ["a URI with unknown parameters", `otpauth://totp/x?secret=${seed("SHA1")}&image=y&counter=3`],
  ])("accepts %s", (_, text) => {
    expect(currentCode(text, 59_000)).toBe(CODE);
  });

  it.each([17, 18, 19, 20, 21, 22, 23, 27, 30])(
    "accepts a secret of %i characters, without the bits after its last byte",
    (length) => {
      const whole = Math.floor((length * 5) / 8);
      const spare = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq".slice(0, length - 1) + "q";
      expect(parseTotp(spare)?.secret).toHaveLength(whole);
      expect(base32(parseTotp(spare)!.secret).slice(0, length - 2)).toBe(spare.slice(0, length - 2));
    },
  );
});

describe("parseTotp, compared with the library otpauth", () => {
  const secret = fc.uint8Array({ minLength: 1, maxLength: 80 });
  const text = fc.string({ unit: "grapheme-ascii", maxLength: 12 });
  const algorithm = fc.constantFrom("SHA1", "SHA256", "SHA512");

  it("reads the parameters of every URI that the library writes", () => {
    const options = fc.record({
      issuer: text,
      label: text,
      algorithm,
      digits: fc.constantFrom(6, 7, 8),
      period: fc.integer({ min: 1, max: 999_999_999 }),
    });
    fc.assert(
      fc.property(secret, options, (key, { issuer, label, ...parameters }) => {
        const written = new TOTP({ issuer, label, ...parameters, secret: new Secret({ buffer: key.slice().buffer }) });
        expect(parseTotp(written.toString())).toEqual({ secret: key, ...parameters });
      }),
    );
  });

  it("reads every URI that the library reads as the library does, within the digits of RFC 6238", () => {
    const parts = fc.record({
      secret: secret.map(base32),
      label: text.map(encodeURIComponent),
      algorithm: fc.option(fc.constantFrom("SHA1", "sha256", "SHA-512", "HMAC-SHA1", "MD5"), { nil: undefined }),
      digits: fc.option(fc.constantFrom("5", "6", "7", "8", "9", "x"), { nil: undefined }),
      period: fc.option(fc.constantFrom("0", "1", "30", "60", "-1", "x"), { nil: undefined }),
      kind: fc.constantFrom("totp", "TOTP", "hotp"),
    });
    fc.assert(
      fc.property(parts, ({ kind, label, ...parameters }) => {
        const query = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
        const written = `otpauth://${kind}/${label}?${query.join("&")}`;
        const read = readByLibrary(written);
        fc.pre(read !== undefined);
        expect(parseTotp(written)).toEqual(read);
      }),
    );
  });
});

/** What the library reads of a URI. Out: `undefined` where it refuses it, or RFC 6238 has no such codes. */
function readByLibrary(written: string): unknown {
  try {
    const read = URI.parse(written);
    if (!(read instanceof TOTP) || ![6, 7, 8].includes(read.digits)) return undefined;
    const { secret, algorithm, digits, period } = read;
    return { secret: secret.bytes, algorithm, digits, period };
  } catch {
    return undefined;
  }
}

describe("parseTotp, for malformed texts", () => {
  it.each([
    "",
    " ",
    "=",
    "0",
    "not base32!",
    "JBSWY3DPEHPK3PX1",
    "a",
    "jbswy3dpehpk3pxp=======",
    `${"=".repeat(60_000)}a`,
    "otpauth://totp/x",
    "otpauth://totp/x?secret=",
    "otpauth://totp/x?secret=0189",
    "otpauth://hotp/x?secret=jbswy3dpehpk3pxp&counter=1",
    "otpauth://x?secret=jbswy3dpehpk3pxp",
    "otpauth:",
    "https://totp/x?secret=jbswy3dpehpk3pxp",
    ...["algorithm=MD5", "algorithm=SHA3-256", "digits=5", "digits=9", "digits=06", "digits=six"].map(uri),
    ...["period=0", "period=-1", "period=1.5", "period=", "period=1e3", "period=9999999999"].map(uri),
  ])("refuses %j", (text) => {
    expect(parseTotp(text)).toBeUndefined();
  });

  it("throws no exception for any text", () => {
    const texts = fc.oneof(
      fc.string({ unit: CHARACTER }),
      fc.webUrl().map((url) => url.replace(/^https?/, "otpauth")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(() => parseTotp(text)).not.toThrow();
      }),
      { numRuns: runs(25, 1_000) }, // an arbitrary URL takes milliseconds to make
    );
  });
});
