import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { type Claims, signToken, verifyToken } from "../../src/crypto/token.ts";
import { CHARACTER } from "../support/characters.ts";
import { runs } from "../support/runs.ts";

/** Contract 8.3: mutations of the characters, parts, encodings, claims and signature of a valid token are refused. */

const NOW = 1_800_000_000; // Unix seconds
const CLAIMS: Claims = {
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  name: "a token, ~?>é",
  dialect: "uuid",
  vaults: { "c0ffee00-5717-4562-b3fc-2c963f66afa6": "r" },
  issuedAt: NOW,
  expiresAt: NOW + 3600,
};

const opened = await openKeyring(env.ROOT_KEYS);
if (!opened.ok) throw new Error("no keyring");
const keyring = opened.value;
/** Valid tokens. The first one is mutated; the mutations use parts of the others. */
const valid = await Promise.all(
  [CLAIMS, { ...CLAIMS, dialect: "connect" as const }, { ...CLAIMS, name: "another" }].map((claims) =>
    signToken(keyring, claims),
  ),
);
const token = valid[0]!;
const expired = await signToken(keyring, { ...CLAIMS, expiresAt: NOW - 1 });
const donors = [...valid, expired].map((one) => one.split("."));
const [HEADER = "", PAYLOAD = "", SIGNATURE = ""] = token.split(".");

const bytesOf = (part: string) => Uint8Array.fromBase64(part, { alphabet: "base64url" });
const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const encodeText = (text: string) => encode(new TextEncoder().encode(text));
const jsonOf = (part: string) => JSON.parse(new TextDecoder().decode(bytesOf(part))) as Record<string, unknown>;

const at = fc.nat(token.length);
const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(..."ABYZabyz0189-_.=+/ \t\n\r\0%,;\"'") },
  { weight: 1, arbitrary: CHARACTER },
);
const text = fc.string({ unit: character, maxLength: 4 });

/** Characters that are replaced, inserted, removed, moved or in another case. */
const byCharacter = fc.oneof(
  fc.tuple(at, fc.nat(4), text).map(([from, count, other]) => token.slice(0, from) + other + token.slice(from + count)),
  fc.tuple(at, at, at).map(([from, to, end]) => token.slice(0, from) + token.slice(to, end) + token.slice(from)),
  fc.tuple(at, at).map(([from, to]) => token.slice(from) + token.slice(0, to)),
  fc.tuple(at, fc.nat(20)).map(([from, count]) => {
    const some = token.slice(from, from + count);
    const other = some === some.toUpperCase() ? some.toLowerCase() : some.toUpperCase();
    return token.slice(0, from) + other + token.slice(from + count);
  }),
);

/** Parts that are from other tokens, repeated, missing or empty. */
const part = fc.oneof(fc.constantFrom(...donors.flat(), ""), text);
const byPart = fc.oneof(
  fc.tuple(part, part, part).map((parts) => parts.join(".")),
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join(".")),
  fc.tuple(fc.constantFrom(".", ",", "..", "", " . "), fc.constantFrom(...donors)).map(([dot, parts]) => parts.join(dot)),
);

/** The same bytes in another encoding. */
const byEncoding = fc.tuple(fc.nat(2), fc.nat(5), text).map(([which, how, extra]) => {
  const parts = token.split(".");
  const old = parts[which]!;
  const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const spare = last[last.indexOf(old.at(-1)!) ^ 1]!;
  const spellings = [`${old}=`, `${old}==`, bytesOf(old).toBase64(), bytesOf(old).toHex(), old.slice(0, -1) + spare, extra + old];
  return parts.with(which, spellings[how]!).join(".");
});

/** Flips one to three bits of the bytes that a part encodes. */
const byBit = fc.tuple(fc.nat(2), fc.array(fc.nat(), { minLength: 1, maxLength: 3 })).map(([which, bits]) => {
  const parts = token.split(".");
  const bytes = bytesOf(parts[which]!);
  for (const bit of bits) bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
  return parts.with(which, encode(bytes)).join(".");
});

const changed = (old: string, claims: [string, unknown][]) =>
  encodeText(JSON.stringify({ ...jsonOf(old), ...Object.fromEntries(claims) }));

const PARAMETERS = "iss aud sub jti iat exp nbf dialect vaults alg typ kid jwk crit b64 zip".split(" ");
/** Additional or changed header parameters and claims, with the original signature, an empty one or another one. */
const claim = fc.tuple(
  fc.constantFrom(...PARAMETERS),
  fc.oneof(
    fc.constantFrom<unknown>("none", "HS256", "Ed25519", "k1", null, NOW, 2 ** 40, "connect", [], ["exp"], {}),
    fc.jsonValue({ maxDepth: 1 }),
  ),
);
const byClaim = fc
  .tuple(fc.array(claim, { maxLength: 2 }), fc.array(claim, { maxLength: 2 }), fc.constantFrom(SIGNATURE, "", "AA"))
  .map(([header, payload, signature]) => {
    return `${changed(HEADER, header)}.${changed(PAYLOAD, payload)}.${signature}`;
  });

/** The order L of the group of Ed25519 (RFC 8032 section 5.1). A verifier that does not require S < L also accepts S + kL. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const littleEndian = (hex: string) => hex.match(/../g)!.toReversed().join("");
const bySignature = fc.tuple(fc.integer({ min: -2, max: 15 }), fc.boolean()).map(([times, negated]) => {
  const bytes = bytesOf(SIGNATURE).toHex();
  const s = BigInt(`0x${littleEndian(bytes.slice(64))}`);
  const other = BigInt.asUintN(256, (negated ? L - s : s) + BigInt(times) * L);
  const hex = bytes.slice(0, 64) + littleEndian(other.toString(16).padStart(64, "0"));
  return `${HEADER}.${PAYLOAD}.${encode(Uint8Array.fromHex(hex))}`;
});

const mutated = fc.oneof(byCharacter, byPart, byEncoding, byBit, byClaim, bySignature);

it("verifyToken refuses every mutation of a valid token without an exception", async () => {
  const validTokens = new Set(valid);
  await fc.assert(
    fc.asyncProperty(mutated, async (other) => {
      fc.pre(!validTokens.has(other));
      const { ok } = await verifyToken(keyring, other, NOW * 1000, 0);
      if (ok) throw new Error(`accepted: ${JSON.stringify(other)}`);
    }),
    { numRuns: runs(400, 100_000) },
  );
  for (const one of valid) expect(await verifyToken(keyring, one, NOW * 1000, 0)).toMatchObject({ ok: true });
});
