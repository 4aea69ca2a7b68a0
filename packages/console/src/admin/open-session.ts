import { call } from "../state/client.ts";
import { signIn } from "../state/sign-in.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import type { Scope } from "./scope.ts";

/** Opens vaults to an admin: to the token or person of the session, or by a token that the session then acts as. */

const LIFETIME = 12 * 60 * 60; // seconds, as a session lasts

/** Opens vaults until the session ends, and then shows the Items. Throws an ItemVaultError. */
export async function openVaults(vaults: Scope): Promise<void> {
  // Who writes stays who they are in the log.
  await (session.value?.token ? signIn({ vaults }) : signInAsConsole(vaults));
  navigate({ view: "items" });
}

/**
 * Issues a token, which the log of the admin shows, and adds it to the session. Its text is neither shown nor kept.
 * Throws an ItemVaultError.
 */
async function signInAsConsole(vaults: Scope): Promise<void> {
  const { data } = await call("POST /v1/admin/tokens", { body: { name: "console", vaults, expiresIn: LIFETIME } });
  try {
    await signIn({ token: data.token! });
  } catch (error) {
    // Nobody has the text of the token, so nobody can use it.
    await call("DELETE /v1/admin/tokens/{token}", { path: { token: data.id } }).catch(() => undefined);
    throw error;
  }
}

/** When the session stops to open vaults: an ISO 8601 time. */
export function openUntil(): string {
  const { expiresAt, token } = session.value!;
  return token && token.expiresAt < expiresAt ? token.expiresAt : expiresAt;
}
