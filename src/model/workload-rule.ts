import * as z from "zod/mini";
import { fits } from "./limits.ts";
import { parseIndex, parsePointer } from "./pointer.ts";
import { isObject, type JsonObject } from "./strict-json.ts";
import { fault } from "./text.ts";
import type { WorkloadKey } from "./workload-keys.ts";
import { type Permit, type PresetName, PRESETS } from "./workload-presets.ts";

/**
 * Rules of workload identity: the claims (RFC 7519 section 4) of a workload's token, and their values. A claim is named by its name or by a
 * JSON pointer (RFC 6901), which begins with `/`: `/kubernetes.io/namespace` is the attribute `namespace` of the claim `kubernetes.io`.
 * Values are compared exactly: there are no wildcards, and a number never equals a string. A list matches by any of its entries: `groups` of
 * the rule `platform` matches `["platform", "staff"]`.
 */

/** A value that a claim is compared with. */
export type ClaimValue = string | number | boolean;

/** The values of the claims that a rule needs, by the names of the claims. */
export type RuleClaims = Readonly<Record<string, ClaimValue>>;

interface WorkloadRule {
  readonly claims: RuleClaims;
  /** The rule is for every repository of an owner. */
  readonly anyRepository?: boolean | undefined;
  /** The rule may have `sub` as its only claim about the workload. */
  readonly allowSubject?: boolean | undefined;
}

/** Sizes are bytes of UTF-8. */
export const RULE_LIMITS = { claims: 32, name: 255, value: 1024 } as const;

/**
 * Claims that identify nobody, because many workloads share a value. They describe the token itself (RFC 7519 section 4.1), or
 * its sign-in and client (OpenID Connect Core 1.0 sections 2 and 5.1, RFC 9068 section 2.2). Platforms add others.
 */
const NAMES_NOBODY = new Set(
  (
    "iss aud exp nbf iat jti typ ver alg kid cnf nonce events token_use token_type idtyp gty " +
    "azp azpacr client_id cid appid appidacr auth_time acr amr sid at_hash c_hash s_hash session_state scope scp " +
    "email_verified phone_number_verified updated_at locale zoneinfo gender birthdate " +
    "idp tid aio uti rh runner_environment repository_visibility event_name ref_type ref_protected"
  ).split(" "),
);

/** Returns the path of a claim in the payload, by its name in a rule. Returns undefined for a malformed pointer. */
function pathOf(name: string): readonly string[] | undefined {
  if (!name.startsWith("/")) return [name];
  const pointer = parsePointer(name);
  return pointer.ok ? pointer.value : undefined;
}

/** Returns one key for each path: `sub` and `/sub` are the same claim. */
const keyOf = (name: string): string => JSON.stringify(pathOf(name));

/** Returns the fault of a claim's name. */
function nameFault(name: string): string | undefined {
  if (name === "") return "has an empty name of a claim";
  if (!name.isWellFormed()) return "has a name that holds half of a surrogate pair";
  if (!fits(name, RULE_LIMITS.name)) return `has a name that is longer than ${RULE_LIMITS.name} bytes`;
  return pathOf(name) === undefined ? "has a name that is no JSON pointer, although it begins with /" : undefined;
}

/** Returns the fault of a claim's value. An integer that JavaScript cannot represent exactly could equal another integer. */
function valueFault(value: unknown): string | undefined {
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return undefined;
  if (typeof value !== "string") return "has a value that is neither a string, nor an integer, nor true or false";
  if (!value.isWellFormed()) return "has a value that holds half of a surrogate pair";
  return fits(value, RULE_LIMITS.value) ? undefined : `has a value that is longer than ${RULE_LIMITS.value} bytes`;
}

function claimsFault(claims: object): string | undefined {
  const entries = Object.entries(claims);
  if (entries.length === 0) return "is empty";
  if (entries.length > RULE_LIMITS.claims) return `has more than ${RULE_LIMITS.claims} claims`;
  const wrong = entries.map(([name, value]) => nameFault(name) ?? valueFault(value)).find((one) => one !== undefined);
  if (wrong !== undefined) return wrong;
  return new Set(entries.map(([name]) => keyOf(name))).size < entries.length ? "names a claim twice" : undefined;
}

/** The claims of a rule, as a request has them. `z.record` would drop a key `__proto__` silently. */
export const ruleClaims = z.pipe(
  z.custom<object>(isObject, fault("is not an object")),
  z.transform((claims, { issues }): RuleClaims => {
    const wrong = claimsFault(claims);
    if (wrong !== undefined) issues.push({ code: "custom", message: wrong, input: claims });
    return claims as RuleClaims;
  }),
);

/**
 * Returns the fault of a rule for an issuer with the preset, or undefined if the rule is allowed. The fault follows the name of
 * its attribute, as in `claims: lacks project_id`. It names only claims of the preset.
 */
export function ruleFault(
  preset: PresetName,
  rule: WorkloadRule,
): { readonly attribute: "claims" | Permit; readonly fault: string } | undefined {
  const { required, permitted } = PRESETS[preset];
  const foreign = (["anyRepository", "allowSubject"] as const).find((one) => rule[one] && one !== permitted?.permit);
  if (foreign !== undefined) return { attribute: foreign, fault: `does not go with the preset ${preset}` };
  const permit = permitted !== undefined && rule[permitted.permit] === true ? permitted : undefined;
  const values = new Map(Object.entries(rule.claims).map(([name, value]) => [keyOf(name), value]));
  const needed = permit?.required ?? required;
  const excess = permit && required.find((name) => !needed.includes(name) && values.has(keyOf(name)));
  if (excess !== undefined) return { attribute: permit!.permit, fault: `does not go with the claim ${excess}` };
  for (const name of needed) {
    const value = values.get(keyOf(name));
    if (value === undefined) return { attribute: "claims", fault: `lacks ${name}, which the preset ${preset} needs` };
    if (typeof value !== "string" || value === "")
      return { attribute: "claims", fault: `has a ${name} that is not a string, or is empty` };
  }
  // True and false identify nobody, whatever the claim.
  const texts = Object.entries(rule.claims).filter(([, value]) => !/^(true|false)$/.test(String(value)));
  const about = texts.map(([name]) => pathOf(name)?.[0] ?? "").filter((name) => !NAMES_NOBODY.has(name));
  if (about.length === 0) return { attribute: "claims", fault: "has no claim that names the workload" };
  return about.every((name) => name === "sub") && permit === undefined
    ? { attribute: "claims", fault: "has sub as its only claim about the workload: issuers change its form" }
    : undefined;
}

/** Returns the names of the rule's claims that a payload lacks or has with another value. The list is empty if all match. */
export const failedClaims = ({ claims }: Pick<WorkloadRule, "claims">, payload: JsonObject): string[] =>
  Object.entries(claims)
    .filter(([name, expected]) => {
      const path = pathOf(name);
      return path === undefined || ![valueAt(payload, path)].flat().includes(expected);
    })
    .map(([name]) => name);

/** Returns the value at a path (RFC 6901 section 4). Returns undefined if the JSON itself does not have the path. */
function valueAt(payload: JsonObject, path: readonly string[]): unknown {
  let value: unknown = payload;
  for (const token of path) {
    if (Array.isArray(value)) {
      const index = parseIndex(token, value.length, "replace");
      value = index.ok ? value[index.value] : undefined;
    } else {
      value = isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    }
  }
  return value;
}

/** The attributes of issuers and rules besides those of every row of `tokens` (contract 27). */

export interface IssuerPolicy {
  /** As in the claim `iss` of its tokens. */
  readonly url: string;
  readonly preset: PresetName;
  /** True if each token can be exchanged only once. Otherwise it can be exchanged `EXCHANGES_MAX` times. */
  readonly once: boolean;
  /** The keys that the admin has given; absent: they are fetched. */
  readonly keys?: readonly WorkloadKey[] | undefined;
}

/** A rule for exchanges of workload tokens or for sign-ins, and the lifetime that it gives. */
export interface RulePolicy extends WorkloadRule {
  /** Seconds of a token, or of the session of a person. */
  readonly lifetime: number;
  /** The rule is for people who sign in (contract 25.13). It permits no exchange of tokens. */
  readonly people?: true | undefined;
}

/** Exchanges of one token, if its issuer does not have `once`. */
export const EXCHANGES_MAX = 20;
