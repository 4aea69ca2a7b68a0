import type { Activity } from "../../model/activity.ts";
import type { Failure } from "../../model/failure.ts";
import { ADMIN } from "../../model/operation.ts";
import type { Refusal } from "../../model/result.ts";
import { sendEntry } from "../../requests/entries.ts";
import { countFailure } from "../../requests/rate-limit.ts";
import type { Store } from "../../store/d1/database.ts";
import { adminEntry } from "../audit.ts";
import { addressOf, type Context } from "../context.ts";

/** The entries of sign-ins in the log of the admin (contract 24.11). */

/** The refusals of somebody who may not sign in; all others are of a request or of the service. */
const LOGGED: ReadonlySet<Failure["kind"]> = new Set(["unauthorized", "not_invited"]);

/** In: the id of the token that has signed in, or was refused; absent for the admin, and for somebody who is not known. */
export const signInEntry = (c: Context, result: Activity["result"], token?: string): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "CREATE", token ?? null, result),
  actor: token ?? ADMIN,
});

/** The entry of vaults that the admin has opened (contract 24.12). In: the id of the session's token or person, and those of the vaults. */
export const openedEntry = (c: Context, token: string, vaults: readonly string[]): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "UPDATE", token),
  items: vaults,
});

/**
 * Counts a refused sign-in for the address, and logs it. The entry has nothing of what was sent: that may be most of a secret. Out: the
 * refusal, or `rate`.
 */
export async function refuseSignIn(c: Context, store: Store, refusal: Refusal, token?: string): Promise<Refusal> {
  const counted = await countFailure(c.env, addressOf(c), refusal);
  if (LOGGED.has(counted.failure.kind)) c.executionCtx.waitUntil(sendEntry(c.env, store, signInEntry(c, "DENY", token)));
  return counted;
}
