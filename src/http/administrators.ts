import type { FailureKind } from "../model/failure.ts";
import { fail, type Refusal, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import { loadOfKind } from "../store/tokens/issuers-and-rules.ts";
import type { ListedToken } from "../store/tokens/tokens.ts";
import type { Context } from "./context.ts";

/** Only ADMIN_TOKEN makes, changes and removes administrators (contract 25.11): who is one cannot make others, nor remove them. */

const ABSENT: ReadonlySet<FailureKind> = new Set(["token_not_found", "person_not_found", "issuer_not_found", "rule_not_found"]);

/** Whether the request has a token of the admin routes in place of ADMIN_TOKEN. */
export const isAdministrator = (c: Context): boolean => c.get("admin") !== undefined;

export const refuseOfAdministrator = (): Refusal => fail("out_of_scope", "make, change or remove an administrator");

/**
 * Refuses a token of the admin routes where the row is that of an administrator or of a rule that makes some, or may be, or has such a rule below
 * it. In: loads the row, for such a token only. Errors: `out_of_scope`; those of loading, but not that there is none.
 */
export async function refuseAdministrator(
  c: Context,
  store: Store,
  load: () => Promise<Result<ListedToken>>,
): Promise<Refusal | undefined> {
  if (!isAdministrator(c)) return undefined;
  const row = await load();
  if (!row.ok) return ABSENT.has(row.failure.kind) ? undefined : row;
  if ("broken" in row.value || row.value.admin) return refuseOfAdministrator();
  if (row.value.kind !== "issuer") return undefined;
  const { id } = row.value;
  const rules = await loadOfKind(store, "rule");
  if (!rules.ok) return rules;
  const makesSome = rules.value.some((rule) => "broken" in rule || (rule.admin && rule.descent?.ancestors[0] === id));
  return makesSome ? refuseOfAdministrator() : undefined;
}
