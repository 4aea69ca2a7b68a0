import { ISSUED_TYPES, JWT } from "../../../model/exchange-form.ts";
import { LIMITS } from "../../../model/limits.ts";
import { PRESET_NAMES } from "../../../model/workload-presets.ts";
import { newIssuer, newRule } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { claimValues, closed, integer, keySet, MANAGED_BY, managedBy, ref, tokenPermissions, words } from "./shapes.ts";

/** Workload identity (contract 27). */

const id = ref("Uuid");
const createdAt = ref("Time");
const text: Schema = { type: "string" };
const preset = words("Which claims its rules need.", PRESET_NAMES);
const anyRepository: Schema = { type: "boolean", description: "Whether it is for every repository of the owner." };
const allowSubject: Schema = { type: "boolean", description: "Whether `sub` may be the only claim." };

export const workloadSchemas: Readonly<Record<string, Schema>> = {
  Issuer: closed(
    "An issuer of workload tokens (contract 27.1).",
    {
      id,
      name: text,
      issuer: { type: "string", description: "Its URL, as its tokens have it in `iss`." },
      preset,
      once: { type: "boolean", description: "Whether each of its tokens is exchanged once." },
      jwks: keySet,
      managedBy,
      createdAt,
    },
    ["jwks", "managedBy"],
  ),
  Rule: closed(
    "Which workload tokens are exchanged, or who signs in, and for what (contract 27.3, 25.13).",
    {
      id,
      name: text,
      issuer: id,
      claims: claimValues,
      anyRepository,
      allowSubject,
      vaults: tokenPermissions,
      lifetime: integer("Seconds of a token that is issued by it, or of a session.", 1, LIMITS.ruleLifetime),
      dialect: ref("Dialect"),
      people: { type: "boolean", const: true, description: "Whether it is for people who sign in (contract 25.13)." },
      admin: { type: "boolean", const: true, description: "Whether these people are administrators (contract 25.11)." },
      managedBy,
      createdAt,
    },
    ["anyRepository", "allowSubject", "people", "admin", "managedBy"],
  ),
  PastExchange: closed("A workload token that was presented (contract 27.5).", {
    at: ref("Time"),
    issuer: { type: "string", description: "The URL of its issuer." },
    matches: { type: "boolean", description: "Whether the rule matches it." },
    failed: { type: "array", items: text, description: "The claims of the rule that do not match." },
  }),
  ExchangedToken: closed("The answer to an exchange (RFC 8693 section 2.2.1).", {
    access_token: { type: "string", description: "What a client sends as `Authorization: Bearer …`." },
    issued_token_type: { type: "string", enum: [...ISSUED_TYPES], description: "The type that was asked for." },
    token_type: { type: "string", const: "Bearer" },
    expires_in: integer("Seconds until it expires.", 1, LIMITS.ruleLifetime),
  }),
  ExchangeForm: {
    type: "object",
    description: "A request to exchange a token (RFC 8693 section 2.1). Other parameters are ignored.",
    properties: {
      grant_type: { type: "string", const: "urn:ietf:params:oauth:grant-type:token-exchange" },
      subject_token: { type: "string", minLength: 1, description: "The token of the workload: a JWT." },
      subject_token_type: { type: "string", enum: [JWT, "urn:ietf:params:oauth:token-type:id_token"] },
      rule: { ...ref("IdInput"), description: "The rule that has to match; absent: exactly one has to." },
      requested_token_type: { type: "string", enum: [...ISSUED_TYPES] },
    },
    required: ["grant_type", "subject_token", "subject_token_type"],
  },
  NewIssuer: body("An issuer to add (contract 27.1).", newIssuer([]), {
    name: "The name.",
    issuer: "Its URL, exactly as its tokens have it in `iss`: https.",
    preset: "`generic` by default.",
    jwks: "Its public keys. Absent: the service fetches them (OpenID Connect Discovery 1.0).",
    once: "Whether each of its tokens is exchanged once. By default yes, and no for `kubernetes` and `gitlab`.",
    managedBy: MANAGED_BY,
  }),
  NewRule: body("A rule to add or to test (contract 27.3, 27.5).", newRule, {
    name: "The name of its tokens; by default that of the issuer.",
    issuer: "The id of the issuer.",
    claims: "The values that claims need, by their names or JSON pointers (RFC 6901): strings, integers or booleans.",
    anyRepository: "Whether it is for every repository of the owner (preset `github`); by default no.",
    allowSubject: "Whether `sub` may be the only claim (preset `generic`); by default no.",
    vaults: "What its tokens may do, as in NewToken.",
    lifetime: `Seconds of its tokens; by default ${LIMITS.ruleLifetimeDefault}. With \`people\`: of a session, by default ${LIMITS.ruleLifetime}.`,
    dialect: "`uuid` by default.",
    people: "Whether it is for people who sign in, and not for workloads; by default no (contract 25.13).",
    admin:
      "Only with `people`: whether they are administrators; by default no. Only ADMIN_TOKEN makes such a rule (contract 25.11).",
    managedBy: MANAGED_BY,
  }),
};
