import { parseId } from "./ids.ts";
import { invalid, ok, type Result } from "./result.ts";

/** The form of a token exchange (RFC 8693 section 2.1). */

export const JWT = "urn:ietf:params:oauth:token-type:jwt";
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPES: readonly string[] = [JWT, "urn:ietf:params:oauth:token-type:id_token"];

export interface ExchangeForm {
  readonly token: string;
  /** The id of the rule that has to match; absent: exactly one has to. */
  readonly rule?: string | undefined;
}

/** The parameters, and what is wrong with a value; the last two may be absent. Others are ignored (RFC 6749 section 3.2). */
const PARAMETERS: Readonly<Record<string, (value: string | null) => string | undefined>> = {
  grant_type: (value) => (value === GRANT ? undefined : `is not ${GRANT}`),
  subject_token: (value) => (value ? undefined : "is missing"),
  subject_token_type: (value) => (value && TYPES.includes(value) ? undefined : `is not ${TYPES.join(" or ")}`),
  rule: (value) => (value === null || parseId(value) !== undefined ? undefined : "is not an id"),
  requested_token_type: (value) => (value === null || value === JWT ? undefined : `is not ${JWT}`),
};

/** Parses a form (URL Standard section 5.1), whatever its Content-Type says. Errors: `invalid`, which quotes nothing of it. */
export function parseExchangeForm(bytes: Uint8Array): Result<ExchangeForm> {
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  for (const [name, faultOf] of Object.entries(PARAMETERS)) {
    // RFC 6749 section 3.2: a parameter comes once.
    const fault = form.getAll(name).length > 1 ? "comes twice" : faultOf(form.get(name));
    if (fault !== undefined) return invalid(`the form: ${name} ${fault}`);
  }
  const rule = form.get("rule");
  return ok({ token: form.get("subject_token")!, rule: rule === null ? undefined : parseId(rule) });
}
