import { ok, type Result } from "../../model/result.ts";
import { loadForToken } from "../../store/authorized.ts";
import type { Grants } from "../../store/session-rows.ts";
import { insertCode } from "../../store/sessions.ts";
import { adminFingerprint } from "../console-session.ts";
import { presentTime } from "../present.ts";
import type { Call, Reply } from "../route.ts";

/** One-time codes that sign in to the console (contract 24): a code grants what the request that makes it was authenticated with. */

export async function createOwnCode(call: Call): Promise<Result<Reply>> {
  const inUse = await loadForToken<[]>(call.store, call.claims);
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
