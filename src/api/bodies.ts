import * as z from "zod/mini";
import { DIALECT_NAMES } from "../model/dialect.ts";
import { emailInput } from "../model/email.ts";
import { parseId } from "../model/ids.ts";
import { COUNT_MAX, LIMITS } from "../model/limits.ts";
import { isCodeChallenge, isCodeVerifier, isLoopback } from "../model/login.ts";
import { oneOf, scope, tokenScope } from "../model/scope.ts";
import { anyId, fault, optional, text } from "../model/text.ts";
import { DAY, SECOND } from "../model/time.ts";
import { permissionIn } from "../model/permission.ts";
import { issuerUrlFault, publicUrlFault } from "../model/public-url.ts";
import { givenKeys } from "../model/workload-keys.ts";
import { PRESET_NAMES, presetOf } from "../model/workload-presets.ts";
import { ruleClaims } from "../model/workload-rule.ts";

/**
 * The JSON bodies of requests. The service parses them with these schemas, and the document derives theirs from them
 * (src/api/openapi/schemas/body.ts). An unknown attribute is an error: a misspelled restriction would otherwise widen a token. Those of Items are in
 * src/model/item-input.ts, because a PATCH parses their parts one by one.
 */

/** The name of a vault or token. */
const name = text(LIMITS.title).check(z.minLength(1, "is empty"));

/** A quota; `null` stands for the default. */
const quotaLimit = z.nullish(z.int().check(z.minimum(0, "is less than 0"), z.maximum(COUNT_MAX, `is more than ${COUNT_MAX}`)));

/** Contract 13.23. */
export const quotaInput = z.strictObject({ items: quotaLimit, bytes: quotaLimit, fileBytes: quotaLimit });

/** Contract 13.12. */
export const newVault = z.strictObject({ name, description: optional(text()), quota: optional(quotaInput) });

/** Contract 13.13. */
export const vaultChange = z.strictObject({ name: optional(name), description: optional(text()), quota: optional(quotaInput) });

/** Contract 20.21. */
export const vaultKeyRenewal = z.strictObject({ replaces: anyId });

export const dialect = z.enum(DIALECT_NAMES, fault(`is not ${oneOf(DIALECT_NAMES)}`));

/** Seconds. */
const lifetime = z
  .int()
  .check(z.minimum(1, "is less than 1"), z.maximum(LIMITS.tokenLifetime, `is more than ${LIMITS.tokenLifetime}`));

/** Seconds by which the reads of a token may be old (contract 8.12). */
const stale = z.int().check(z.minimum(1, "is less than 1"), z.maximum(LIMITS.stale, `is more than ${LIMITS.stale}`));

/** The attributes of every request for a token. */
const tokenInput = {
  name,
  vaults: tokenScope,
  dialect: optional(dialect),
  expiresIn: optional(lifetime),
  stale: optional(stale),
  delegate: optional(z.boolean()),
};

/** Contract 8.16. */
export const newChildToken = z.strictObject({
  ...tokenInput,
  binding: optional(z.literal(false, "is for a token that the admin issues")),
});

/** Contract 13.14. */
export const newToken = z
  .strictObject({
    ...tokenInput,
    vaults: optional(tokenScope),
    binding: optional(z.boolean()),
    backupsOnly: optional(z.boolean()),
  })
  .check(
    z.refine(({ vaults, backupsOnly }) => backupsOnly === true || vaults !== undefined, {
      path: ["vaults"],
      message: "is missing",
    }),
    z.refine(
      ({ vaults, binding, stale: seconds, delegate, backupsOnly }) =>
        !backupsOnly || (vaults === undefined && !binding && seconds === undefined && !delegate),
      { path: ["backupsOnly"], message: "does not go with vaults, binding, stale or delegate" },
    ),
    // Nobody has the text of a token for service bindings, so it issues none.
    z.refine(({ binding, delegate }) => !binding || !delegate, { path: ["delegate"], message: "does not go with binding" }),
    // The calls of a service binding read the primary.
    z.refine(({ binding, stale: seconds }) => !binding || seconds === undefined, {
      path: ["stale"],
      message: "does not go with binding",
    }),
    z.refine(({ vaults, binding }) => !binding || Object.values(vaults ?? {}).every((one) => permissionIn(one) === "r"), {
      path: ["vaults"],
      message: "has a permission other than r, the only one that a service binding uses",
    }),
  );

/** Contract 25.2. */
export const newPerson = z.strictObject({ email: emailInput, vaults: scope, admin: optional(z.boolean()) });

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
    lifetime: optional(
      z.int().check(z.minimum(1, "is less than 1"), z.maximum(LIMITS.ruleLifetime, `is more than ${LIMITS.ruleLifetime}`)),
    ),
    dialect: optional(dialect),
    people: optional(z.boolean()),
    admin: optional(z.boolean()),
  })
  .check(
    z.refine(({ people, admin }) => people || !admin, { path: ["admin"], message: "does not go without people" }),
    z.refine(({ people, dialect: form = "uuid" }) => !people || form === "uuid", {
      path: ["dialect"],
      message: "does not go with people",
    }),
    z.refine(({ people, vaults }) => !people || Object.values(vaults).every((one) => typeof one === "string"), {
      path: ["vaults"],
      message: "names items, which does not go with people",
    }),
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
  z.strictObject({ url: webhookUrl(allowedOrigins), enabled: webhookEnabled });

/** Contract 17.5. `allowedOrigins` need not be public. */
export const webhookChange = (allowedOrigins: readonly string[]) =>
  z
    .strictObject({
      url: optional(webhookUrl(allowedOrigins)),
      enabled: webhookEnabled,
      resume: optional(z.enum(["cursor", "latest"], "is not cursor or latest")),
      rotateSecret,
    })
    .check(
      z.refine(({ enabled, resume }) => enabled !== false || resume === undefined, {
        message: "does not fit enabled: false",
        path: ["resume"],
      }),
    );

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
  expiresIn: optional(
    z.int().check(z.minimum(1, "is less than 1"), z.maximum(LIMITS.loginLifetime, `is more than ${LIMITS.loginLifetime}`)),
  ),
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
    z.refine(({ admin, vaults }) => !admin || vaults === undefined, { path: ["vaults"], message: "does not go with admin" }),
    z.refine(({ admin, expiresIn = 0 }) => !admin || expiresIn <= LIMITS.adminLoginLifetime, {
      path: ["expiresIn"],
      message: `is more than ${LIMITS.adminLoginLifetime}, the most with admin`,
    }),
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
