import { fail, type Result } from "../model/result.ts";
import type { Store } from "../store/database.ts";
import { checkRootKeys } from "../store/root-keys.ts";
import { openStore } from "./enter.ts";
import type { Call } from "./route.ts";

/** The guard of the admin routes. */

/**
 * Compares the request's token with the secret `ADMIN_TOKEN`. Errors: `unauthorized`; `misconfigured`.
 * Without the secret no admin route exists (app.ts), so none is ever compared with nothing.
 */
export async function enterAdmin(c: Call): Promise<Result<Store>> {
  const given = /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";
  return (await sameText(given, c.env.ADMIN_TOKEN)) ? openStore(c) : fail("unauthorized");
}

/** The same, before something is sealed that no key may ever open: root keys that are not this database's are refused. */
export async function enterAdminToSeal(c: Call): Promise<Result<Store>> {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const checked = await checkRootKeys(store.value);
  return checked.ok ? store : checked;
}

/** Compares in a time that tells nothing of the texts: hashes have one length, and are compared in constant time. */
async function sameText(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b));
}

const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
