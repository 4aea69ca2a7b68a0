import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import type { Grants } from "../../store/tokens/session-rows.ts";
import { insertCode } from "../../store/tokens/sessions.ts";
import { adminFingerprint } from "../console-session.ts";
import { presentTime } from "../present.ts";
import type { Call, Reply } from "../route.ts";

/** One-time codes that sign in to the console (contract 24): a code grants what the request that makes it was authenticated with. */

export async function createOwnCode(call: Call): Promise<Result<Reply>> {
  const { c, store, actor } = call;
  // The request has counted as one already.
  const limited = await limitToken(c.env, actor, store.now, LIMITS.signInCost - 1);
  if (limited) return limited;
  const inUse = await loadForToken<[]>(store, call.claims);
  return inUse.ok ? answerCode(call, { token: call.claims }) : inUse;
}

export async function createAdminCode(call: Call): Promise<Result<Reply>> {
  return answerCode(call, { admin: await adminFingerprint(call.c) });
}

async function answerCode({ c, store }: Call, grants: Grants): Promise<Result<Reply>> {
  const made = await insertCode(store, grants);
  if (!made.ok) return made;
  const { text, expiresAt } = made.value;
  return ok({ response: c.json({ code: text, expiresAt: presentTime(expiresAt) }) });
}
