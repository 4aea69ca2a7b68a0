import { signal } from "@preact/signals";
import type { Session } from "@item-vault/client";
import { contains } from "@item-vault/model/vault-scope";
import { VIEWS } from "../routes.ts";
import { route } from "./route.ts";

/** Who is signed in (contract 24). */

/**
 * `starting`: not yet known. `ended`: the service refused the session that the page had, or it is somebody else's now.
 * `unreachable`: the service did not answer at the start.
 */
export type SessionState = "starting" | "unreachable" | "signed-out" | "signed-in" | "ended";

export const session = signal<Session | undefined>(undefined);
export const sessionState = signal<SessionState>("starting");
/** What the sign-in page says besides its form: why a link did not sign in, or that the service did not answer. */
export const signInMessage = signal("");

/** The codes of a sign-in link that was opened beside a session, until it is decided whether they are used. */
export const askedCodes = signal<readonly string[]>([]);

/** Whether a sign-in link has made the session, and the page is still to tell so. */
export const linkNotice = signal(false);

/** Who is signed in, for people. */
export function nameOfSession({ person, token, admin }: Session): string {
  const name = person?.email ?? token?.name;
  if (name === undefined) return "admin";
  return admin ? `${name} (admin)` : name;
}

/** The session of somebody else, which the service has made or found after that of this page had ended. */
export const otherSession = signal<Session | undefined>(undefined);

/**
 * Whether a session that was made in this page takes the place of one that has ended: its token has another id, because it was issued anew.
 * Names are not unique, and nothing else tells who holds a token, so what was typed could reach somebody else. Therefore it has the same
 * name and opens all vaults that the page may show, as the one before did, and is entered where the page says that what was typed is still
 * there; not in another tab. A person has an identity that stays, so nothing takes a person's place, and no person takes that of a token.
 */
export function takesPlace(next: Session, { token, person }: Session): boolean {
  if (token === undefined || person || next.person || next.token?.name !== token.name) return false;
  const opened = new Map(Object.entries(next.token.vaults));
  return Object.entries(token.vaults).every(([vault, scope]) => contains(opened.get(vault), scope));
}

/**
 * Whether a session continues what the page shows: it is of the same token or person, or of an administrator as before, and has the
 * grant that the view needs.
 */
export function isSameUser(next: Session): boolean {
  const { token, admin } = session.value ?? next;
  return hasGrant(next) && ((admin && next.admin) || (token !== undefined && token.id === next.token?.id));
}

/** Whether a session has the grant that the view needs. */
function hasGrant(next: Session): boolean {
  const needs = (session.value ?? next).token === undefined ? "admin" : VIEWS[route.value.view].needs;
  return { token: next.token !== undefined, admin: next.admin, any: true }[needs];
}

/** Takes over an answer of the service. In: `undefined` when nobody is signed in; whether `next` was made in this page. */
export function setSession(next: Session | undefined, { here = false } = {}): void {
  const continues = (one: Session) => isSameUser(one) || (here && hasGrant(one) && takesPlace(one, session.value!));
  if (next && sessionState.value === "ended" && !continues(next)) {
    otherSession.value = next;
    return;
  }
  otherSession.value = undefined;
  session.value = next;
  sessionState.value = next ? "signed-in" : "signed-out";
  if (next) signInMessage.value = "";
}

/** Called when the service refuses the session, or has one of somebody else. What the user has typed stays in the page. */
export function endSession(other?: Session): void {
  if (sessionState.value !== "signed-in") return;
  otherSession.value = other;
  sessionState.value = "ended";
}
