import { fail, type Refusal, type Result } from "../model/result.ts";
import type { ListedToken } from "../store/tokens/tokens.ts";
import type { Context } from "./context.ts";

/** Only ADMIN_TOKEN makes, changes and removes administrators (contract 25.11): who is one cannot make others, nor remove them. */

/** Whether the request has a token of the admin routes in place of ADMIN_TOKEN. */
export const isAdministrator = (c: Context): boolean => c.get("admin") !== undefined;

export const refuseOfAdministrator = (): Refusal => fail("out_of_scope", "make, change or remove an administrator");

/**
 * Refuses a token of the admin routes where the row is that of an administrator, or may be. In: loads the row, for such a token only. Errors:
 * `out_of_scope`; those of loading, but not that there is none.
 */
export async function refuseAdministrator(c: Context, load: () => Promise<Result<ListedToken>>): Promise<Refusal | undefined> {
  if (!isAdministrator(c)) return undefined;
  const row = await load();
  if (!row.ok) return row.failure.kind === "token_not_found" || row.failure.kind === "person_not_found" ? undefined : row;
  return "broken" in row.value || (row.value.kind === "person" && row.value.admin) ? refuseOfAdministrator() : undefined;
}
