import type { Result } from "../model/result.ts";
import type { Store } from "../store/database.ts";
import { checkRootKeys } from "../store/root-keys.ts";
import { openStore } from "./enter.ts";
import type { Call } from "./route.ts";
import { requireSecret } from "./secret.ts";

/** The guard of the admin routes. */

/**
 * Compares the request's token with the secret `ADMIN_TOKEN`. Errors: `unauthorized`, `rate`; `misconfigured`.
 * Without the secret no admin route exists (app.ts), so none is ever compared with nothing.
 */
export async function enterAdmin(c: Call): Promise<Result<Store>> {
  return (await requireSecret(c, c.env.ADMIN_TOKEN)) ?? openStore(c);
}

/** The same, before something is sealed that no key may ever open: root keys that are not this database's are refused. */
export async function enterAdminToSeal(c: Call): Promise<Result<Store>> {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const checked = await checkRootKeys(store.value);
  return checked.ok ? store : checked;
}
