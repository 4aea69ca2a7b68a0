import * as z from "zod/mini";
import { DIALECT_NAMES } from "../model/dialect.ts";
import { emailInput } from "../model/email.ts";
import { parseId } from "../model/ids.ts";
import { COUNT_MAX, LIMITS } from "../model/limits.ts";
import { isCodeChallenge, isCodeVerifier, isLoopback } from "../model/login.ts";
import { permissionIn } from "../model/permission.ts";
import { issuerUrlFault, publicUrlFault } from "../model/public-url.ts";
import { oneOf, scope, tokenScope } from "../model/scope.ts";
import { anyId, fault, integer, optional, rule, text } from "../model/text.ts";
import { DAY, SECOND } from "../model/time.ts";
import { byNarrowAdmin, NARROW_ADMIN_NAMES } from "../model/token-kind.ts";
import { givenKeys } from "../model/workload-keys.ts";
import { PRESET_NAMES, presetOf } from "../model/workload-presets.ts";
import { ruleClaims } from "../model/workload-rule.ts";

/**
 * The JSON bodies of requests. The service parses them with these schemas, and the document derives theirs from them
 * (src/api/openapi/schemas/body.ts). An unknown attribute is an error: a misspelled restriction would otherwise widen a token. The parsers
 * of Items are in src/model/item-input.ts, because a PATCH parses their parts one by one.
 */

/** The name of a vault or token. */
const name = text(LIMITS.title).check(z.minLength(1, "is empty"));

/** The name of the file of `item-vault apply` that makes something (contract 13.29). */
const managedBy = optional(name);

/** A quota; `null` stands for the default. */
const quotaLimit = z.nullish(integer(0, COUNT_MAX));

/** Contract 13.23. */
export const quotaInput = z.strictObject({ items: quotaLimit, bytes: quotaLimit, fileBytes: quotaLimit });

/** Contract 13.12. */
export const newVault = z.strictObject({ name, description: optional(text()), quota: optional(quotaInput) });

/** Contract 13.13. */
export const vaultChange = z.strictObject({ name: optional(name), description: optional(text()), quota: optional(quotaInput) });

/** Contract 20.21. */
export const vaultKeyRenewal = z.strictObject({ replaces: anyId });

export const dialect = z.enum(DIALECT_NAMES, fault(`is not ${oneOf(DIALECT_NAMES)}`));

/** The attributes of every request for a token. */
const tokenInput = {
  name,
  vaults: tokenScope,
  dialect: optional(dialect),
  expiresIn: optional(integer(1, LIMITS.tokenLifetime)),
  stale: optional(integer(1, LIMITS.stale)),
  delegate: optional(z.boolean()),
};

/** Contract 8.16. */
export const newChildToken = z.strictObject({
  ...tokenInput,
  binding: optional(z.literal(false, "is for a token that the admin issues")),
});

/** Attributes that only a token of vaults has. */
const OF_VAULTS = ["vaults", "binding", "stale", "delegate"];

/** Contract 13.14. */
export const newToken = z
  .strictObject({
    ...tokenInput,
    vaults: optional(tokenScope),
    binding: optional(z.boolean()),
    managedBy,
    ...byNarrowAdmin(() => optional(z.boolean())),
  })
  .check(
    rule("vaults", "is missing", (token) => NARROW_ADMIN_NAMES.some((one) => token[one]) || token.vaults !== undefined),
    ...NARROW_ADMIN_NAMES.map((narrow) =>
      rule<Readonly<Record<string, unknown>>>(
        narrow,
        "does not go with vaults, binding, stale or delegate",
        (token) => !token[narrow] || !OF_VAULTS.some((one) => token[one]),
      ),
    ),
    rule("adminRead", "does not go with backupsOnly", ({ adminRead, backupsOnly }) => !adminRead || !backupsOnly),
    // Nobody has the text of a token for service bindings, so it issues none.
    rule("delegate", "does not go with binding", ({ binding, delegate }) => !binding || !delegate),
    // The calls of a service binding read the primary.
    rule("stale", "does not go with binding", ({ binding, stale }) => !binding || stale === undefined),
    rule(
      "vaults",
      "has a permission other than r, the only one that a service binding uses",
      ({ vaults, binding }) => !binding || Object.values(vaults ?? {}).every((one) => permissionIn(one) === "r"),
    ),
  );

/** Contract 25.2. */
export const newPerson = z.strictObject({ email: emailInput, vaults: scope, admin: optional(z.boolean()), managedBy });

/** Contract 25.4. An email that was ignored would be a change that did not happen. */
export const personChange = z.strictObject({
  vaults: scope,
  admin: optional(z.boolean()),
  email: z.optional(z.undefined("cannot be changed: remove the person and add the other email")),
});

/** The URL of an issuer. Its rules depend on the source of the issuer's keys. */
export const issuerUrl = z.string();

/** The id of an object outside the path. The result is a canonical UUID, or a text that names nothing (contract 3.3). */
export const idInput = z.pipe(
  z.string(),
  z.transform((value, { issues }): string => {
    const id = parseId(value);
    if (id === undefined) issues.push({ code: "custom", message: "is not a UUID or 26 characters", input: value });
    return id ?? "";
  }),
);

/** Contract 27.1. `allowedOrigins` need not be public. */
export const newIssuer = (allowedOrigins: readonly string[]) =>
  z
    .strictObject({
      name,
      issuer: issuerUrl,
      preset: optional(z.enum(PRESET_NAMES, fault(`is not ${oneOf(PRESET_NAMES)}`))),
      jwks: optional(givenKeys),
      once: optional(z.boolean()),
      managedBy,
    })
    .check(({ value: { issuer, jwks, preset }, issues }) => {
      const message = issuerUrlFault(issuer, jwks ? "given" : "fetched", allowedOrigins);
      if (message !== undefined) issues.push({ code: "custom", path: ["issuer"], message, input: issuer });
      const known = presetOf(issuer);
      if (preset !== undefined && known !== "generic" && preset !== known)
        issues.push({ code: "custom", path: ["preset"], message: `is not ${known}, that of this issuer`, input: preset });
    });

/** Contract 27.3, 25.13. Whether the claims fit the preset is known when the issuer was read. */
export const newRule = z
  .strictObject({
    name: optional(name),
    issuer: idInput,
    claims: ruleClaims,
    anyRepository: optional(z.boolean()),
    allowSubject: optional(z.boolean()),
    vaults: tokenScope,
    lifetime: optional(integer(1, LIMITS.ruleLifetime)),
    dialect: optional(dialect),
    people: optional(z.boolean()),
    admin: optional(z.boolean()),
    managedBy,
  })
  .check(
    rule("admin", "does not go without people", ({ people, admin }) => people === true || !admin),
    rule("dialect", "does not go with people", ({ people, dialect: form = "uuid" }) => !people || form === "uuid"),
    rule(
      "vaults",
      "names items, which does not go with people",
      ({ people, vaults }) => !people || Object.values(vaults).every((one) => typeof one === "string"),
    ),
  );

/** Seconds for which the secret of a webhook that is replaced also signs, unless the request says otherwise. */
const OVERLAP_SECONDS = DAY / SECOND;

/** Returns the schema of a webhook's URL. `allowedOrigins` need not be public. */
const webhookUrl = (allowedOrigins: readonly string[]) =>
  z.pipe(
    z.string(),
    z.transform((value, { issues }): string => {
      const wrong = publicUrlFault(value, allowedOrigins);
      if (wrong === undefined) return new URL(value).href;
      issues.push({ code: "custom", message: wrong, input: value });
      return z.NEVER;
    }),
  );

const webhookEnabled = optional(z.boolean());

const OVERLAP_FAULT = `is neither true nor an integer from 0 to ${LIMITS.webhookSecret}`;

/** `true`, or the seconds for which the previous secret also signs. */
const rotateSecret = optional(
  z.union(
    [
      z.pipe(
        z.literal(true),
        z.transform(() => OVERLAP_SECONDS),
      ),
      z.int().check(z.minimum(0, OVERLAP_FAULT), z.maximum(LIMITS.webhookSecret, OVERLAP_FAULT)),
    ],
    OVERLAP_FAULT,
  ),
);

/** Contract 17.4. `allowedOrigins` need not be public. */
export const newWebhook = (allowedOrigins: readonly string[]) =>
  z.strictObject({ url: webhookUrl(allowedOrigins), enabled: webhookEnabled, managedBy });

/** Contract 17.5. `allowedOrigins` need not be public. */
export const webhookChange = (allowedOrigins: readonly string[]) =>
  z
    .strictObject({
      url: optional(webhookUrl(allowedOrigins)),
      enabled: webhookEnabled,
      resume: optional(z.enum(["cursor", "latest"], "is not cursor or latest")),
      rotateSecret,
    })
    .check(rule("resume", "does not fit enabled: false", ({ enabled, resume }) => enabled !== false || resume === undefined));

/** A login below `/vault` (contract 29.9). Clients send further attributes. */
export const kvLogin = z.object({
  jwt: text(LIMITS.exchange).check(z.minLength(1, "is empty")),
  role: optional(text(LIMITS.title)),
});

/** References to resolve (contract 16.1). */
export const resolveRequest = z.strictObject({
  references: z.array(text(LIMITS.reference)).check(z.maxLength(LIMITS.references, `has more than ${LIMITS.references} entries`)),
});

/** The body of a sign-in to the console (contract 24.3, 24.12, 25.12). */
export const signIn = z
  .strictObject({
    code: optional(z.string()),
    state: optional(z.string()),
    iss: optional(z.string()),
    token: optional(z.string()),
    vaults: optional(scope),
  })
  .check(
    z.refine(({ code, token }) => code === undefined || token === undefined, "has both a code and a token"),
    z.refine(({ code, state }) => code !== undefined || state === undefined, "has a state without a code"),
    z.refine(({ state, iss }) => state !== undefined || iss === undefined, "has an iss without a state"),
    z.refine(
      ({ code, token, vaults }) => vaults === undefined || (code ?? token) === undefined,
      "has vaults beside a code or a token",
    ),
  );

/** The request for a login (contract 28.2). */
const loginInput = {
  vaults: optional(scope),
  expiresIn: optional(integer(1, LIMITS.loginLifetime)),
};

const redirectUri = z
  .string()
  .check(z.refine(isLoopback, "is not http://127.0.0.1 or http://[::1] with a port, and without query and fragment"));

/** A login in a browser that a person confirms (contract 28.3). */
export const newAuthorization = z
  .strictObject({
    ...loginInput,
    admin: optional(z.boolean()),
    redirect_uri: redirectUri,
    code_challenge: z.string().check(z.refine(isCodeChallenge, "is not a SHA-256 in base64url")),
  })
  .check(
    rule("vaults", "does not go with admin", ({ admin, vaults }) => !admin || vaults === undefined),
    rule(
      "expiresIn",
      `is more than ${LIMITS.adminLoginLifetime}, the most with admin`,
      ({ admin, expiresIn = 0 }) => !admin || expiresIn <= LIMITS.adminLoginLifetime,
    ),
  );

/** A login code that a person makes (contract 28.5). */
export const newLoginCode = z.strictObject({ ...loginInput, vaults: scope });

/** The request that redeems a login (contract 28.4, 28.6). */
export const loginRequest = z.strictObject({
  code: z.string(),
  code_verifier: optional(
    z.string().check(z.refine(isCodeVerifier, "is not 43 to 128 letters, digits and signs of RFC 7636 section 4.1")),
  ),
  redirect_uri: optional(redirectUri),
});
