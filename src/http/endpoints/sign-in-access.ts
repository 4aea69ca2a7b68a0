import { verifyAccessToken } from "../../crypto/access-token.ts";
import { emailIndex } from "../../crypto/email-index.ts";
import { logFailure } from "../../log.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import type { Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import type { Grants } from "../../store/tokens/session-rows.ts";
import { loadPersonByEmail } from "../../store/tokens/sign-in-person.ts";
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
 * its token, and for every fault of the token; `access_unavailable`; `rate`; `schema`, `not_invited`, `misconfigured`, `unavailable`.
 */
export async function signInWithAccess(c: Context, store: Store): Promise<Result<Granted>> {
  const { access } = store.settings;
  const token = c.req.header(HEADER);
  // No failed authentication: the console asks so at its start, also where there is no Access.
  if (!access || !token) return fail("unauthorized");
  const identity = await verifyAccessToken(access, token, store.now, reportKeys);
  if (!identity.ok) return refuseSignIn(c, store, identity);
  const { email, expiresAt } = identity.value;
  // Before the look-up, because Access also lets people through whom nobody has invited.
  const limited = await limitToken(c.env, await emailIndex(store.keyring.active, email), store.now, LIMITS.signInCost);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const person = await loadPersonByEmail(store, email);
  return person.ok ? ok({ token: person.value, until: expiresAt * SECOND }) : refuseSignIn(c, store, person);
}
