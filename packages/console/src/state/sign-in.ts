import { ItemVaultError, type Session, type SignIn } from "@item-vault/client";
import { effect } from "@preact/signals";
import { explain, isErrorKind } from "../failures/explain.ts";
import { callUnchecked, readSession } from "./client.ts";
import { goToProvider, type Opened, providerOffered, takeAnswer } from "./provider.ts";
import { askedCodes, endSession, isSameUser, linkNotice, session, sessionState, setSession, signInMessage } from "./session.ts";

/** Signing in and out (contract 24). */

const SIGN_IN = /^#sign-in=([\w-]+(?:\.[\w-]+)?)$/;

/** Signs in, or extends the existing session. Throws an ItemVaultError. */
export async function signIn(credential: SignIn): Promise<void> {
  setSession(await exchange(credential), { here: true });
  linkNotice.value = false;
  tellTabs();
}

const exchange = async (credential: SignIn): Promise<Session> =>
  (await callUnchecked("POST /console/session", { body: credential })).data;

export const reloadSession = async (): Promise<void> => setSession(await readSession());

export async function signOut(): Promise<void> {
  await callUnchecked("DELETE /console/session");
  tellTabs();
}

export function leavePage(): void {
  // The browser may ask whether to leave the input, and may keep the page for its back button.
  addEventListener("pagehide", () => setSession(undefined), { once: true });
  reload();
}

/** The page is loaded again, so that nothing of the session stays in its memory. */
const reload = (): void => location.replace("/console/");

/** Drops the page's content, including input, and starts with the session of the cookie. */
export function dropPage(): void {
  setSession(undefined);
  // After the next rendering there is no form that asks whether to leave it.
  requestAnimationFrame(() => requestAnimationFrame(reload));
}

/** A page that the back button restores still has the memory of its old session. */
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && sessionState.value !== "signed-in") reload();
});

export const hasSignInCode = (): boolean => SIGN_IN.test(location.hash);

export const explainLink = (error: unknown): string =>
  error instanceof ItemVaultError && error.status === 401
    ? "This link has been used, or is older than 5 minutes."
    : explain(error);

/**
 * Loads the session at the start. The codes of a sign-in link are removed from the address before use, so that they are not in the history.
 * A stranger's link could make a user store secrets in the stranger's vault. So, with a session, the codes wait for an answer. Without a
 * session, the page shows the account of the link.
 */
export async function startSession(): Promise<void> {
  const opened = takeAnswer();
  const codes = SIGN_IN.exec(location.hash)?.[1]?.split(".") ?? [];
  if (codes.length > 0) history.replaceState(null, "", "/console/");
  watchSession();
  try {
    const present = codes.length === 0 ? await loadSession(opened) : await readSession().catch(ignoreAbsence);
    if (!present) return await redeemLink(codes);
    if (codes.length > 0) askedCodes.value = codes;
    setSession(present);
    tellTabs();
  } catch (error) {
    if (!(error instanceof ItemVaultError)) throw error;
    signInMessage.value = codes.length > 0 ? explainLink(error) : explainStart(error, opened);
    providerOffered.value = isErrorKind(error, "sign_in_needed") || typeof opened === "object";
    if (opened === "begin" && providerOffered.value) await goToProvider().catch(showFailure);
    else if (sessionState.value === "starting") sessionState.value = error.status === 0 ? "unreachable" : "signed-out";
  }
}

/** Why nobody is signed in at the start, in words; empty where nobody has tried. */
function explainStart(error: ItemVaultError, opened: Opened): string {
  if (opened === "refused") return "Your identity provider did not sign you in.";
  if (error.status !== 401) return explain(error);
  return typeof opened === "object" ? "This sign-in has expired, or it began in another browser. Try again." : "";
}

function showFailure(error: unknown): void {
  signInMessage.value = explain(error);
  sessionState.value = "signed-out";
}

/** Redeems codes, at least one. Each exchange ends the session before it, so no other request is sent until the last one. */
async function redeem([code, ...others]: readonly string[]): Promise<Session> {
  const made = await exchange({ code: code! });
  return others.length === 0 ? made : redeem(others);
}

/** Signs in with the codes of a link, replacing any session. Throws an ItemVaultError. */
export async function redeemLink(codes: readonly string[]): Promise<void> {
  setSession(await redeem(codes));
  linkNotice.value = true;
  tellTabs();
}

/** Returns undefined for the error that means there is no session. */
function ignoreAbsence(error: unknown): undefined {
  if (!(error instanceof ItemVaultError) || error.status !== 401) throw error;
}

/** Without a session, the page has an answer of the identity provider, or Cloudflare Access adds its header to the request. */
async function loadSession(opened: Opened): Promise<Session> {
  if (typeof opened === "object") return exchange(opened);
  return (await readSession().catch(ignoreAbsence)) ?? exchange({});
}

/** Notices when the session ends without a request: at its time, and when another tab of the browser has signed in or out. */
const tabs = new BroadcastChannel("item-vault-session");

/** Called after this tab has signed in or out: all tabs have one cookie. */
// A channel reaches this origin only, so it takes no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const tellTabs = (): void => tabs.postMessage("changed");

/** Compares the session of the page with that of the cookie. Without an answer, the page is not changed. */
async function checkSession(): Promise<void> {
  if (sessionState.value !== "signed-in" && sessionState.value !== "ended") return;
  const shown = session.peek();
  try {
    const next = await readSession();
    if (!isSameUser(next)) endSession(next);
    else if (sessionState.value === "ended" || JSON.stringify(next) !== JSON.stringify(session.value)) setSession(next);
  } catch (error) {
    // The answer may be older than a sign-in.
    if (error instanceof ItemVaultError && error.status === 401 && session.peek() === shown) endSession();
  }
}

/** The minimum time between two checks, in case the clock of the computer is wrong. */
const LEAST = 60_000; // milliseconds

function watchSession(): void {
  tabs.addEventListener("message", () => void checkSession());
  effect(() => {
    if (!session.value) return undefined;
    const left = Date.parse(session.value.expiresAt) - Date.now();
    const timer = setTimeout(() => void checkSession(), Math.max(LEAST, left));
    return () => clearTimeout(timer);
  });
}
