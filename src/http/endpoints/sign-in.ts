import * as z from "zod";
import { parseConsoleSecret } from "../../crypto/console-secret.ts";
import { verifyToken } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { scope } from "../../model/scope.ts";
import { explain, optional } from "../../model/text.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import { isKnownRefused, rememberRefusal } from "../../requests/refused.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import type { Store } from "../../store/d1/database.ts";
import { explainFailure } from "../../store/keys/root-keys.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { takeCode } from "../../store/tokens/sessions.ts";
import { parseBody } from "../body.ts";
import { adminFingerprint } from "../console-session.ts";
import type { Context } from "../context.ts";
import { sameText } from "../secret.ts";
import { refuseSignIn } from "./refused-sign-in.ts";
import { type Granted, signInWithAccess } from "./sign-in-access.ts";

/**
 * What signs in to the console (contract 24): a one-time code, a token, ADMIN_TOKEN, or else Cloudflare Access. With vaults, nobody signs
 * in: the session of the request opens them (contract 24.12).
 */

const body = z
  .object({ code: optional(z.string()), token: optional(z.string()), vaults: optional(scope) })
  .refine(({ code, token }) => code === undefined || token === undefined, { message: "has both a code and a token" })
  .refine(({ code, token, vaults }) => vaults === undefined || (code ?? token) === undefined, {
    message: "has vaults beside a code or a token",
  });

/**
 * Out: what the request signs in as. Errors, in this order: 400, 413, 415; `misconfigured`, `unauthorized`, `rate`; `schema`,
 * `unavailable`; those of `signInWithAccess`.
 */
export async function authenticateSignIn(c: Context, store: Store): Promise<Result<Granted>> {
  const parsed = await parseBody(c.req.raw, LIMITS.signIn);
  if (!parsed.ok) return parsed;
  const input = body.safeParse(parsed.value.json);
  if (!input.success) return invalid(explain(input.error, "the body"));
  const { code, token, vaults } = input.data;
  if (vaults !== undefined) return ok({ opened: vaults });
  if (code === undefined && token === undefined) return signInWithAccess(c, store);
  return code === undefined ? redeemToken(c, store, token!) : redeemCode(c, store, code);
}

async function redeemCode(c: Context, store: Store, code: string): Promise<Result<Granted>> {
  const id = await parseConsoleSecret(store.keyring, "sign-in-code", code);
  if (id === undefined) return refuseSignIn(c, store, await explainFailure(store));
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const holder = { id, admin: await adminFingerprint(c) };
  const granted = isKnownRefused(store, holder) ? fail("unauthorized") : await takeCode(store, id, holder.admin);
  if (!granted.ok && granted.failure.kind === "unauthorized") rememberRefusal(store, holder);
  return granted.ok ? granted : refuseSignIn(c, store, granted);
}

async function redeemToken(c: Context, store: Store, token: string): Promise<Result<Granted>> {
  const admin = await adminFingerprint(c);
  if (admin !== undefined && (await sameText(token, c.env.ADMIN_TOKEN))) {
    const schema = await checkSchema(store.db);
    return schema.ok ? ok({ admin }) : schema;
  }
  const claims = await verifyToken(store.keyring, token, store.now, store.settings.tokensNotBefore);
  if (!claims.ok) return refuseSignIn(c, store, await explainFailure(store));
  const limited = await limitToken(c.env, claims.value.id, store.now, LIMITS.signInCost);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const inUse = isKnownRefused(store, claims.value) ? fail("unauthorized") : await loadForToken<[]>(store, claims.value);
  if (!inUse.ok && inUse.failure.kind === "unauthorized") rememberRefusal(store, claims.value);
  return inUse.ok ? ok({ token: claims.value }) : refuseSignIn(c, store, inUse, claims.value.id);
}
