import { ItemVaultError } from "@item-vault/client";
import { explain } from "./explain.ts";
import { type Session, sessionState, setSession, signInMessage } from "../state/session.ts";
import { sendUnchecked } from "./client.ts";

/** Signing in and out (contract 24). */

const PATH = "/console/session";
const SIGN_IN = /^#sign-in=([\w-]+(?:\.[\w-]+)?)$/;

/** What a session can be made of: a one-time code, the text of a token, or nothing but what Cloudflare Access adds. */
type Credential = { readonly code: string } | { readonly token: string } | Record<string, never>;

/** Signs in, or adds to the session that there is. Errors: throws an ItemVaultError. */
export async function signIn(credential: Credential): Promise<void> {
  const response = await sendUnchecked("POST", PATH, { json: credential });
  setSession((await response.json()) as Session);
}

export async function signOut(): Promise<void> {
  await sendUnchecked("DELETE", PATH);
  // The page is loaded again, so that nothing of the session stays in its memory.
  location.replace("/console/");
}

const LINK_REFUSED = "This link has been used, or is older than 10 minutes.";

/**
 * Finds out at the start who is signed in. The codes of a sign-in link are removed from the address before they are used, so that
 * they are not in the history.
 */
export async function startSession(): Promise<void> {
  const codes = SIGN_IN.exec(location.hash)?.[1]?.split(".") ?? [];
  if (codes.length > 0) history.replaceState(null, "", "/console/");
  try {
    for (const code of codes) await signIn({ code });
    if (codes.length === 0) await loadSession();
  } catch (error) {
    if (!(error instanceof ItemVaultError)) throw error;
    signInMessage.value = error.status !== 401 ? explain(error) : codes.length > 0 ? LINK_REFUSED : "";
    if (sessionState.value === "starting") sessionState.value = error.status === 0 ? "unreachable" : "signed-out";
  }
}

/** Without a session, Cloudflare Access may have authenticated the person: it adds its header to the request. */
async function loadSession(): Promise<void> {
  try {
    const response = await sendUnchecked("GET", PATH);
    setSession((await response.json()) as Session);
  } catch (error) {
    if (!(error instanceof ItemVaultError) || error.status !== 401) throw error;
    await signIn({});
  }
}
