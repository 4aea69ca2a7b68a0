import { parseId } from "./ids.ts";
import { invalid, ok, type Result } from "./result.ts";

/** The form of a token exchange (RFC 8693 section 2.1). */

export const JWT = "urn:ietf:params:oauth:token-type:jwt";
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPES: readonly string[] = [JWT, "urn:ietf:params:oauth:token-type:id_token"];

/** The types that a client can ask for. The token of this service is both. */
export const ISSUED_TYPES = [JWT, "urn:ietf:params:oauth:token-type:access_token"] as const;

const issuedType = (asked: string | null) => ISSUED_TYPES.find((type) => type === asked);

export interface ExchangeForm {
  readonly token: string;
  /** The id of the rule that has to match; absent: exactly one has to. */
  readonly rule?: string | undefined;
  /** The name of that rule. */
  readonly ruleName?: string | undefined;
  /** The requested type. */
  readonly type: (typeof ISSUED_TYPES)[number];
}

/**
 * The parameters, each with a function that returns the fault of a value. The first three are required. Other parameters are
 * ignored (RFC 6749 section 3.2).
 */
const PARAMETERS: Readonly<Record<string, (value: string | null) => string | undefined>> = {
  grant_type: (value) =>
    value === GRANT
      ? undefined
      : value === null
        ? "is missing: send a form (application/x-www-form-urlencoded), not JSON"
        : `is not ${GRANT}`,
  subject_token: (value) => (value?.trim() ? undefined : "is missing"),
  subject_token_type: (value) => (value && TYPES.includes(value) ? undefined : `is not ${TYPES.join(" or ")}`),
  rule: (value) => (value === null || parseId(value) !== undefined ? undefined : "is not an id"),
  requested_token_type: (value) => (value === null || issuedType(value) ? undefined : `is not ${ISSUED_TYPES.join(" or ")}`),
  // Otherwise a client that asks for less would get the full grant of the rule.
  ...Object.fromEntries(
    ["scope", "audience", "resource", "actor_token"].map((name) => [name, (value) => (value ? "is not supported" : undefined)]),
  ),
};

/** Parses a form (URL Standard section 5.1) with any Content-Type. Fails with `invalid`; the message quotes nothing from the form. */
export function parseExchangeForm(bytes: Uint8Array): Result<ExchangeForm> {
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  for (const [name, faultOf] of Object.entries(PARAMETERS)) {
    // RFC 6749 section 3.2: a parameter comes once.
    const fault = form.getAll(name).length > 1 ? "comes twice" : faultOf(form.get(name));
    if (fault !== undefined) return invalid(`the form: ${name} ${fault}`);
  }
  const rule = form.get("rule");
  return ok({
    token: form.get("subject_token")!.trim(),
    rule: rule === null ? undefined : parseId(rule),
    type: issuedType(form.get("requested_token_type")) ?? JWT,
  });
}
