import { loginRequest, newAuthorization, newChildToken, newLoginCode, signIn } from "../../../src/api/bodies.ts";
import { createIssuer } from "../../../src/http/endpoints/admin-issuers.ts";
import { addPerson, changePerson } from "../../../src/http/endpoints/admin-people.ts";
import { createRule } from "../../../src/http/endpoints/admin-rules.ts";
import { createToken } from "../../../src/http/endpoints/admin-tokens.ts";
import { createVault, renewVaultKey, updateVault } from "../../../src/http/endpoints/admin-vaults.ts";
import { createWebhook, updateWebhook } from "../../../src/http/endpoints/admin-webhooks.ts";
import { resolveReferences } from "../../../src/http/endpoints/resolve.ts";
import type { ParseCall } from "../../../src/http/route.ts";
import { isEmail } from "../../../src/model/email.ts";
import { parseId } from "../../../src/model/ids.ts";
import { parseItem, parsePatch } from "../../../src/model/item-input.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { issuerUrlFault, publicUrlFault } from "../../../src/model/public-url.ts";
import type { Result } from "../../../src/model/result.ts";
import { parseValue } from "../../../src/model/text.ts";
import { givenKeys } from "../../../src/model/workload-keys.ts";
import { ruleClaims } from "../../../src/model/workload-rule.ts";

/** The bodies of requests: their schemas in the document, their parsers, and the rules in which the two differ. */

export const VAULT = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

/** The parser of an endpoint, without the rest of a request. */
const endpoint =
  ({ parse }: { readonly parse: (this: void, call: ParseCall) => Result<unknown> }) =>
  (json: unknown): Result<unknown> =>
    parse({ body: { json, bytes: new Uint8Array() }, store: { settings: {} } } as unknown as ParseCall);

/** Each schema of a body, with the parser of the service. */
export const PARSERS: Readonly<Record<string, (body: unknown) => Result<unknown>>> = {
  NewItem: (body) => parseItem(body, VAULT, "create"),
  ItemReplacement: (body) => parseItem(body, VAULT, "replace"),
  Patch: parsePatch,
  NewVault: endpoint(createVault),
  VaultChange: endpoint(updateVault),
  VaultKeyRenewal: endpoint(renewVaultKey),
  NewToken: endpoint(createToken),
  NewIssuer: endpoint(createIssuer),
  NewRule: endpoint(createRule),
  NewChildToken: (body) => parseValue(newChildToken, body, "the token"),
  NewWebhook: endpoint(createWebhook),
  WebhookChange: endpoint(updateWebhook),
  ResolveRequest: endpoint(resolveReferences),
  NewPerson: endpoint(addPerson),
  PersonChange: endpoint(changePerson),
  SignIn: (body) => parseValue(signIn, body, "the body"),
  NewAuthorization: (body) => parseValue(newAuthorization, body, "the login"),
  NewLoginCode: (body) => parseValue(newLoginCode, body, "the login"),
  LoginRequest: (body) => parseValue(loginRequest, body, "the login"),
};

/** The schemas of bodies that are left out, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  NewJob: "it has the attributes of all kinds, and a kind drops those of the others, whatever they are",
};

type Named = Readonly<Record<string, unknown>>;

/** Calls a function with every value in a JSON value, and its key. */
function walk(value: unknown, use: (value: unknown, key: string) => void, key = ""): void {
  use(value, key);
  if (typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value)) walk(one, use, Array.isArray(value) ? key : name);
}

function has(body: unknown, test: (value: unknown, key: string) => boolean): boolean {
  let found = false;
  walk(body, (value, key) => (found ||= test(value, key)));
  return found;
}

const isText = (value: unknown): value is string => typeof value === "string";
const bytes = (value: string): number => new TextEncoder().encode(value).length;

/** The limits of texts, by their keys. */
const LIMIT: Readonly<Record<string, number>> = {
  title: LIMITS.title,
  name: LIMITS.title,
  managedBy: LIMITS.title,
  references: LIMITS.reference,
};

/** The limits of lists, by their keys. */
const ENTRIES: Readonly<Record<string, number>> = { references: LIMITS.references, items: LIMITS.tokenItems };

/** A rule of the service that the document does not have: the service refuses what the document allows. */
interface Stricter {
  readonly rule: string;
  readonly reason: string;
  /** The schema, and a body that it allows and the service refuses. */
  readonly example: readonly [schema: string, body: unknown];
  readonly refuses: (body: unknown) => boolean;
}

export const STRICTER: readonly Stricter[] = [
  {
    rule: "a string with half of a surrogate pair is a 400 (contract 12.3)",
    reason: "a string of JSON Schema is a sequence of characters; patterns that find surrogates do not work in most languages",
    example: ["NewVault", { name: "\ud800" }],
    refuses: (body) => has(body, (value) => isText(value) && !value.isWellFormed()),
  },
  {
    rule: "the limits of strings are bytes of UTF-8 (contract 12.1)",
    reason: "maxLength counts characters; the document has the limit as the most characters",
    example: ["NewVault", { name: "é".repeat(1000) }],
    refuses: (body) => has(body, (value, key) => isText(value) && bytes(value) > (LIMIT[key] ?? LIMITS.string)),
  },
  {
    rule: "an id of a vault in a body is that of the path (contract 2.19)",
    reason: "a schema does not see the path",
    example: ["NewItem", { category: "LOGIN", vault: { id: "00000000-0000-4000-8000-000000000000" } }],
    refuses: (body) =>
      has(
        (body as { vault?: unknown } | null)?.vault,
        (value, key) => key === "id" && isText(value) && ![undefined, VAULT].includes(parseId(value)),
      ),
  },
  {
    rule: "a token names each vault once, in one of two forms of its id (contract 8.4, 3.2)",
    reason: "a schema does not compare two spellings of an id",
    example: [
      "NewToken",
      { name: "n", vaults: { "3fa85f64-5717-4562-b3fc-2c963f66afa6": "r", h6uf6zcxc5cwfm74fsld6zvpuy: "r" } },
    ],
    refuses: (body) => {
      const ids = Object.keys((body as { vaults?: object } | null)?.vaults ?? {}).map(parseId);
      return new Set(ids).size < ids.length;
    },
  },
  {
    rule: "a token of service bindings has no permission but `r`, no `stale` and no `delegate`; only the admin issues it (contract 8.16, 13.14, 18.5)",
    reason: "a second schema of the whole body would hide the first one from generators of types",
    example: ["NewToken", { name: "n", vaults: { h6uf6zcxc5cwfm74fsld6zvpuy: "rw" }, binding: true }],
    refuses: (body) => {
      const { binding, vaults, stale, delegate } = (body ?? {}) as Readonly<Record<string, unknown>>;
      const writes = Object.values(vaults ?? {}).some((permission) => permission !== "r");
      return binding === true && (writes || (stale ?? undefined) !== undefined || delegate === true);
    },
  },
  {
    rule: "the URL of a webhook is https, of a public domain name (contract 17.3)",
    reason: "the rules are those of the URL standard; the document has the characters and the length",
    example: ["NewWebhook", { url: "http://hooks.example.com/" }],
    refuses: (body) =>
      has(body, (value, key) => key === "url" && isText(value) && publicUrlFault(value, undefined) !== undefined),
  },
  {
    rule: "an email is an address, and that of a person stays (contract 25.2, 25.4)",
    reason: "the format `email` of JSON Schema is another one; an attribute that must be absent gives clients a type for nothing",
    example: ["NewPerson", { email: "ada", vaults: {} }],
    refuses: (body) => has(body, (value, key) => key === "email" && !(isText(value) && isEmail(value.trim()))),
  },
  {
    rule: "a sign-in has a code, a token or vaults, a state only beside a code, and an iss only beside a state (contract 24.3, 25.12)",
    reason: "one object with all of them gives clients one type",
    example: ["SignIn", { code: "c", token: "t" }],
    refuses: (body) => {
      const [code, token, vaults, state, iss] = ["code", "token", "vaults", "state", "iss"].map(
        (name) => ((body as Named | null)?.[name] ?? null) !== null,
      );
      return [code, token, vaults].filter(Boolean).length > 1 || (state && !code) || (iss && !state) || false;
    },
  },
  {
    rule: "the URL of an issuer is https, and its keys are public ones that verify (contract 27.1)",
    reason: "the rules are those of the URL standard and of RFC 7517",
    example: ["NewIssuer", { name: "n", issuer: "http://issuer.example.com" }],
    refuses: (body) => {
      const { issuer, jwks } = (body ?? {}) as Readonly<Record<string, unknown>>;
      if (isText(issuer) && parseId(issuer) === undefined && issuerUrlFault(issuer, jwks ? "given" : "fetched") !== undefined)
        return true;
      return typeof jwks === "object" && jwks !== null && !parseValue(givenKeys, jwks, "").ok;
    },
  },
  {
    rule: "a rule for people gives whole vaults in the dialect uuid, and only such a rule makes administrators (contract 25.13)",
    reason: "a second schema of the whole body would hide the first one from generators of types",
    example: ["NewRule", { issuer: "3fa85f64-5717-4562-b3fc-2c963f66afa6", claims: { sub: "a" }, vaults: {}, admin: true }],
    refuses: (body) => {
      const { people, admin, dialect, vaults, claims } = (body ?? {}) as Named;
      if (claims === undefined) return false;
      const hasItems = Object.values(vaults ?? {}).some((one) => typeof one === "object");
      return people === true ? dialect === "connect" || hasItems : admin === true;
    },
  },
  {
    rule: "the claims of a rule have names and values within their limits, and none twice (contract 27.3)",
    reason: "a schema does not compare a name with a JSON pointer",
    example: ["NewRule", { issuer: "3fa85f64-5717-4562-b3fc-2c963f66afa6", claims: { sub: "a", "/sub": "b" }, vaults: {} }],
    refuses: (body) => {
      const { claims } = (body ?? {}) as Readonly<Record<string, unknown>>;
      return typeof claims === "object" && claims !== null && !parseValue(ruleClaims, claims, "").ok;
    },
  },
  {
    rule: "a token has vaults, or only reads backups or lists and has neither vaults nor what goes with them (contract 8.19, 8.20)",
    reason: "a second schema of the whole body would hide the first one from generators of types",
    example: ["NewToken", { name: "n" }],
    refuses: (body) => {
      const { vaults, binding, stale, delegate, backupsOnly, adminRead } = (body ?? {}) as Named;
      const others = [vaults, stale].some((one) => (one ?? null) !== null) || binding === true || delegate === true;
      if (backupsOnly === true || adminRead === true) return others || (backupsOnly === true && adminRead === true);
      return (vaults ?? null) === null;
    },
  },
  {
    rule: "a token of the admin routes opens no vaults, and lives for an hour at most (contract 28.2)",
    reason: "a second schema of the whole body would hide the first one from generators of types",
    example: [
      "NewAuthorization",
      { redirect_uri: "http://127.0.0.1:9/", code_challenge: "A".repeat(43), admin: true, vaults: {} },
    ],
    refuses: (body) => {
      const { admin, vaults, expiresIn } = (body ?? {}) as Named;
      return admin === true && ((vaults ?? null) !== null || Number(expiresIn ?? 0) > LIMITS.adminLoginLifetime);
    },
  },
  {
    rule: "a code goes to a port of this machine (contract 28.3)",
    reason: "a pattern for the numbers of ports is unreadable; the document has the characters",
    example: ["NewAuthorization", { redirect_uri: "http://127.0.0.1:99999/", code_challenge: "A".repeat(43) }],
    refuses: (body) => has(body, (value, key) => key === "redirect_uri" && isText(value) && !URL.canParse(value)),
  },
  {
    rule: "a list has at most so many entries (contract 8.15, 12.1, 16.1)",
    reason: "generators make a tuple of as many types of it",
    example: ["NewItem", { category: "LOGIN", tags: Array(LIMITS.list + 1).fill("t") }],
    refuses: (body) => has(body, (value, key) => Array.isArray(value) && value.length > (ENTRIES[key] ?? LIMITS.list)),
  },
];

/** A spelling that the service accepts and the document does not have. `rewrite` writes a value as the document does. */
interface Looser {
  readonly rule: string;
  readonly reason: string;
  readonly example: Stricter["example"];
  readonly rewrite: (value: unknown, key: string) => unknown;
}

const WORDS = new Set(["category", "type", "purpose", "characterSets"]);

export const LOOSER: readonly Looser[] = [
  {
    rule: "categories, types, purposes and character sets are accepted in any case (contract 2.9)",
    reason: "an enum gives clients a type, and a pattern for any case none",
    example: [
      "NewItem",
      { category: "login", fields: [{ type: "Totp", purpose: "notes", recipe: { characterSets: ["digits"] } }] },
    ],
    rewrite: (value, key) => (WORDS.has(key) && isText(value) && /^\w+$/.test(value) ? value.toUpperCase() : value),
  },
  {
    rule: "the op of a PATCH is accepted in any case (contract 6.1)",
    reason: "an enum gives clients a type, and a pattern for any case none",
    example: ["Patch", [{ op: "REPLACE", path: "/title", value: "t" }]],
    rewrite: (value, key) => (key === "op" && isText(value) ? value.toLowerCase() : value),
  },
];

/** A body with the spellings of the document. */
export function inSpelling(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => inSpelling(one, key));
  if (typeof value !== "object" || value === null) return LOOSER.reduce((one, { rewrite }) => rewrite(one, key), value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inSpelling(one, name)]));
}
