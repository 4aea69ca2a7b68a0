import { verifyAccessToken } from "../../crypto/access-token.ts";
import { logFailure } from "../../log.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import type { Store } from "../../store/database.ts";
import { checkSchema } from "../../store/schema.ts";
import type { Grants } from "../../store/session-rows.ts";
import { loadPersonByEmail } from "../../store/sign-in-person.ts";
import type { Context } from "../context.ts";
import { refuseSignIn } from "./refused-sign-in.ts";

/** What a request signs in as. */
export interface Granted extends Grants {
  /** When what has signed in ends, in Unix milliseconds: the session lasts no longer. */
  readonly until?: number;
}

/** Cloudflare Access sets it on each request to its application. The cookie with the same token is not read: it needs no such request. */
const HEADER = "Cf-Access-Jwt-Assertion";

const reportKeys = (error: unknown) => logFailure("The fetch of the keys of Cloudflare Access", error);

/**
 * Signs in the person whom Cloudflare Access has authenticated (contract 25.6). Errors: `unauthorized`, without an Access application or
 * its token, and for every fault of the token; `access_unavailable`; `schema`, `not_invited`, `misconfigured`, `unavailable`, `rate`.
 */
export async function signInWithAccess(c: Context, store: Store): Promise<Result<Granted>> {
  const { access } = store.settings;
  const token = c.req.header(HEADER);
  // No failed authentication: the console asks so at its start, also where there is no Access.
  if (!access || !token) return fail("unauthorized");
  const identity = await verifyAccessToken(access, token, store.now, reportKeys);
  if (!identity.ok) return refuseSignIn(c, store, identity);
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const person = await loadPersonByEmail(store, identity.value.email);
  if (!person.ok) return refuseSignIn(c, store, person);
  const limited = await limitToken(c.env, person.value.id, store.now, LIMITS.signInCost);
  return limited ?? ok({ token: person.value, until: identity.value.expiresAt * SECOND });
}
