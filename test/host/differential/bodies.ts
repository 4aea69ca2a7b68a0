import { generateKeyPairSync, sign } from "node:crypto";
import * as fc from "fast-check";
import { patch } from "../../fuzz/patch-operations.ts";
import { AUDIENCE } from "./pair.ts";
import type { World } from "./world.ts";

/** Random bodies of requests. Most are valid. */

export const TITLES = ["Login", "Straße", "STRASSE", "日本 😀", 'a "quoted" title', "back\\slash", "x and y", "", "é", "Ａ"];
const CATEGORIES = ["LOGIN", "PASSWORD", "server", "SECURE_NOTE", "API_CREDENTIAL", "DOCUMENT"];
const IDS = ["password", "username", "a/b", "s", "~", "note"];
const VALUES = ["", "secret", "日本", "x".repeat(2_000), "line\nbreak", "\u0000\u007f", "2024-02-29"];
const TAGS = ["prod", "dev", "日本", "a b", ""];

const some = <T>(w: World, values: readonly T[], most: number): T[] =>
  Array.from({ length: w.int(most + 1) }, () => w.pick(values));

const field = (w: World): object => ({
  ...(w.chance(0.9) && { id: w.pick(IDS) }),
  ...(w.chance(0.3) && { purpose: w.pick(["USERNAME", "PASSWORD", "NOTES", ""]) }),
  ...(w.chance(0.5) && { type: w.pick(["STRING", "CONCEALED", "email", "URL", "MENU", "DATE", "OTP", "nope"]) }),
  ...(w.chance(0.5) && { label: w.pick(["Label", "label", "日本", ""]) }),
  ...(w.chance(0.9) && { value: w.pick(VALUES) }),
  ...(w.chance(0.2) && { section: { id: w.pick(["s", "t"]), label: "Section" } }),
  ...(w.chance(0.06) && { value: "", generate: true, recipe: w.pick([{}, { length: 12 }, { characterSets: ["DIGITS"] }]) }),
});

const DIFFERENT: readonly (readonly [type: string, value: string])[] = [
  ["OTP", "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=8"],
  ["OTP", "JBSWY3DPEHPK3PXP"],
  ["DATE", "2024-02-29"],
  ["MONTH_YEAR", "2024/12"],
];

/** An Item. */
export function newItem(w: World, vault: string): object {
  const [type, value] = w.pick(DIFFERENT);
  const ids = IDS.filter(() => w.chance(0.4));
  const fields = [
    ...(w.chance(0.08) ? [field(w), field(w)] : ids.map((id) => Object.assign(field(w), { id }))),
    ...(w.chance(0.7) ? [{ id: "main", label: "Main", type: "CONCEALED", value: w.pick(VALUES) }] : []),
    ...(w.chance(0.2) ? [{ id: "special", type, value }] : []),
  ];
  return {
    title: w.pick(TITLES),
    category: w.chance(0.04) ? "NOPE" : w.pick(CATEGORIES),
    ...(w.chance(0.9) && { vault: { id: vault } }),
    ...(w.chance(0.5) && { tags: some(w, TAGS, 3) }),
    ...(w.chance(0.3) && { favorite: w.chance(0.5) }),
    ...(w.chance(0.3) && { urls: some(w, [{ href: "https://example.com", label: "site", primary: true }, { href: "" }], 2) }),
    ...(w.chance(0.3) && { sections: [{ id: "s", label: w.pick(["Section", "日本"]) }] }),
    fields,
    ...(w.chance(0.1) && { titel: "unknown", version: "x" }),
  };
}

/** The operations of a PATCH. */
export const newPatch = (w: World): unknown =>
  w.chance(0.5)
    ? fc.sample(patch, { seed: w.int(2 ** 31), numRuns: 1 })[0]
    : [{ op: "add", path: "/fields/main", value: { label: "Main", value: `value ${w.next()}` } }];

const PERMISSIONS = ["rwd", "rwd", "rwd", "rwd", "rwd", "rwd", "rw", "r", "l", "w", "lw", "d"];

/** A scope of vaults (contract 8.4, 8.15). */
export function newScope(w: World): Record<string, unknown> {
  const vaults = w.all("vault").filter(() => w.chance(0.8));
  return Object.fromEntries(
    vaults.map(({ text }) => {
      const permissions = w.pick(PERMISSIONS);
      const items = w.all("item", { vault: text }).slice(0, 2);
      return [text, w.chance(0.1) && items.length > 0 ? { permissions, items: items.map((item) => item.text) } : permissions];
    }),
  );
}

export const newToken = (w: World): object => ({
  name: `token ${w.next()}`,
  vaults: newScope(w),
  ...(w.chance(0.25) && { dialect: "connect" }),
  ...(w.chance(0.3) && { expiresIn: w.pick([86_400, 86_400, 31_536_000, 31_536_000, 31_536_001, 0]) }),
  ...(w.chance(0.3) && { delegate: true }),
  ...(w.chance(0.15) && { stale: w.pick([1, 300]) }),
  ...(w.chance(0.05) && { binding: true }),
});

/** A token below that of the request, as a rule (contract 8.16). */
export const newChildToken = (w: World): object => ({
  name: `child ${w.next()}`,
  vaults: w.chance(0.5) ? {} : { [w.one("vault")]: w.pick(["r", "l", "rw"]) },
  ...(w.chance(0.3) && { delegate: true }),
  ...(w.chance(0.3) && { expiresIn: 100_000 }),
});

const FIELD_NAMES = ["password", "main", "Main", "label", "s/password", "note?attribute=type", "special?attribute=otp", "none"];

export const newReference = (w: World): string => {
  const { vault = "", item = "" } = w.place("item");
  return w.chance(0.05)
    ? w.pick(["", "op://", "op://a", "op://a/b/c?attribute=x", "op://ä/b/c"])
    : `op://${w.chance(0.7) ? vault : w.pick(["Vault 1", "vault 2"])}/${w.chance(0.6) ? item : w.pick(["Login", "strasse", "日本"])}/${w.pick(FIELD_NAMES)}`;
};

/** Spoils a text of JSON. */
export const spoiled = (w: World, text: string): string =>
  w.pick([
    text.slice(0, -1),
    `${text}x`,
    "",
    "null",
    "[]",
    '"text"',
    `\ufeff${text}`,
    "{".repeat(40),
    text.replace("{", '{"x":1,'),
    `${text} `,
  ]);

const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KID = "key";

/** The issuer whose workload tokens the tests sign. */
export const ISSUER = "https://issuer.example.com";

export const newIssuer = (w: World): object =>
  w.chance(0.6)
    ? {
        name: "ours",
        issuer: ISSUER,
        once: w.chance(0.5),
        jwks: { keys: [{ ...key.publicKey.export({ format: "jwk" }), kid: KID, alg: "ES256" }] },
      }
    : { name: `issuer ${w.next()}`, issuer: w.pick([`https://i${w.next()}.example.com`, "http://x", "https://10.0.0.1"]) };

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A form that exchanges a workload token (contract 27.6). */
export function newExchange(w: World): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: ISSUER,
    aud: AUDIENCE,
    iat: now,
    exp: now + 300,
    jti: `jti ${w.next()}`,
    job: "deploy",
    ...(w.chance(0.2) && { job: "other" }),
  };
  const signed = `${encoded({ alg: "ES256", kid: KID, typ: "JWT" })}.${encoded(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    subject_token: `${signed}.${w.chance(0.1) ? "x" : signature}`,
  });
  return `${form.toString()}${w.chance(0.7) ? `&rule=${w.one("rule")}` : ""}`;
}
