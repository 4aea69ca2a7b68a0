import { verifyToken } from "../../../src/crypto/token.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { openStore, type Store } from "../../../src/store/d1/database.ts";
import { insertSession } from "../../../src/store/tokens/sessions.ts";
import { times } from "./bodies.ts";
import type { World } from "./world.ts";

/** Sessions of the console, made without requests. */

export const CONSOLE = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };

/** The headers of a request with the cookie of a session, over https and over http. */
export const cookieOf = (text: string): Record<string, string> => ({
  ...CONSOLE,
  Cookie: `__Host-item-vault-session=${text}; item-vault-session=${text}`,
});

export async function storeOf({ env }: World): Promise<Store> {
  const store = await openStore(env, Date.now());
  if (!store.ok) throw new Error(store.failure.kind);
  return store.value;
}

/** So many sessions of a token. Returns their cookies. */
export async function sessionsOf(world: World, token: string, count: number): Promise<string[]> {
  const store = await storeOf(world);
  const claims = await verifyToken(store.keyring, token, store.now, 0);
  if (!claims.ok) throw new Error("The token does not verify");
  const lifetime = { createdAt: store.now, expiresAt: store.now + LIMITS.session * 1_000 };
  const made = await Promise.all(times(count, () => insertSession(store, { token: claims.value }, lifetime)));
  return made.map((one) => {
    if (!one.ok) throw new Error(one.failure.kind);
    return one.value.text;
  });
}
