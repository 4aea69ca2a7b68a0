import type { Claims } from "../crypto/token.ts";
import type { FailureKind } from "../model/failure.ts";
import { fail, map, ok, type Refusal, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import { endOfKind, type Kind, loadOfKind, loadOneOfKind } from "../store/tokens/issuers-and-rules.ts";
import type { ListedToken } from "../store/tokens/tokens.ts";
import { adminEntry } from "./audit.ts";
import type { Context } from "./context.ts";
import { presentRow } from "./present/tokens.ts";
import type { Call, Reply } from "./route.ts";

/** Only ADMIN_TOKEN makes, changes and removes administrators (contract 25.11). An administrator cannot do so. */

const ABSENT: ReadonlySet<FailureKind> = new Set(["token_not_found", "person_not_found", "issuer_not_found", "rule_not_found"]);

/** Returns true if the request has a token of the admin routes instead of ADMIN_TOKEN. */
export const isAdministrator = (c: Context): boolean => c.get("admin") !== undefined;

export const refuseOfAdministrator = (): Refusal => fail("out_of_scope", "make, change or remove an administrator");

/**
 * Refuses a token of the admin routes if the row is an administrator, a rule that makes administrators, or an issuer with such a rule. A
 * damaged row is refused, too, because it may belong to an administrator. `load` is called for such a token only. Fails with
 * `out_of_scope`, and as `load` does, unless the row is absent.
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

/** Serves one row of a kind. */
export const getOne =
  <T>(kind: Kind, present: (claims: Claims) => T) =>
  async ({ store, [kind]: id }: Call) => {
    return map(await loadOneOfKind(store, kind, id), (row) => ({ json: presentRow(present)(row) }));
  };

/** Serves the end of a row of a kind. Fails as `refuseAdministrator` and `endOfKind` do. */
export const endOne =
  (kind: Kind) =>
  async ({ c, store, [kind]: id }: Call): Promise<Result<Reply<never>>> => {
    const refused = await refuseAdministrator(c, store, () => loadOneOfKind(store, kind, id));
    if (refused) return refused;
    const resource = kind.toUpperCase() as Uppercase<Kind>;
    const ended = await endOfKind(store, kind, id, adminEntry({ resource }, c, "DELETE", id));
    return ended.ok ? ok({ response: c.body(null, 204) }) : ended;
  };
