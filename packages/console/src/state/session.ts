import type { Session } from "@item-vault/client";
import { contains, itemsIn, vaultsWith } from "@item-vault/model/permission";
import { signal } from "@preact/signals";
import { type ViewName, type ViewRow, VIEWS } from "../routes.ts";
import { route } from "./route.ts";

/** The signed-in user (contract 24). */

/**
 * `starting`: not yet known. `ended`: the service refused the session that the page had, or it is somebody else's now.
 * `unreachable`: the service did not answer at the start.
 */
export type SessionState = "starting" | "unreachable" | "signed-out" | "signed-in" | "ended";

export const session = signal<Session | undefined>(undefined);
export const sessionState = signal<SessionState>("starting");
/** The message of the sign-in page besides its form: why a link did not sign in, or that the service did not answer. */
export const signInMessage = signal("");

/** The codes of a sign-in link that was opened beside a session, until it is decided whether they are used. */
export const askedCodes = signal<readonly string[]>([]);

/** True until the page has shown the "signed in by link" notice. */
export const linkNotice = signal(false);

export function nameOfSession({ person, token, admin }: Session): string {
  const name = person?.email ?? token?.name;
  if (name === undefined) return "admin";
  return admin ? `${name} (admin)` : name;
}

/** The session of another user, which the service made or found after this page's session had ended. */
export const otherSession = signal<Session | undefined>(undefined);

/**
 * Returns true if a session made in this page replaces an ended one: its token has another id, because it was reissued.
 *
 * Names are not unique, and nothing else identifies a token holder, so the input could reach another user. The new token therefore needs the
 * same name and all vaults that the page may show. It must be entered where the page says that the input is still there, and not in another
 * tab. A person has a permanent identity, so no session replaces a person's, and no person's replaces a token's.
 */
export function takesPlace(next: Session, { token, person }: Session): boolean {
  if (token === undefined || person || next.person || next.token?.name !== token.name) return false;
  const opened = new Map(Object.entries(next.token.vaults));
  return Object.entries(token.vaults).every(([vault, scope]) => contains(opened.get(vault), scope));
}

/** Returns true if a session continues the page: the same token, person or administrator, with the grant that the view needs. */
export function isSameUser(next: Session): boolean {
  const { token, admin } = session.value ?? next;
  return hasGrant(next) && ((admin && next.admin) || (token !== undefined && token.id === next.token?.id));
}

function hasGrant(next: Session): boolean {
  const needs = (session.value ?? next).token === undefined ? "admin" : VIEWS[route.value.view].needs;
  return { token: next.token !== undefined, admin: next.admin, any: true }[needs];
}

/** Applies an answer of the service. `undefined`: nobody is signed in. `here` is true if `next` was made in this page. */
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

/** Called when the service refuses the session, or has the session of another user. What the user has typed stays in the page. */
export function endSession(other?: Session): void {
  if (sessionState.value !== "signed-in") return;
  otherSession.value = other;
  sessionState.value = "ended";
}

/** Returns true if a session may open a view. */
export function canOpen(view: ViewName, { token, admin }: Session): boolean {
  const { needs } = VIEWS[view];
  return needs === "any" || (needs === "admin" ? admin : token !== undefined);
}

/** Returns the ids of the vaults in which the session's token has the permission that a view needs. */
export function vaultsFor(view: ViewName): string[] {
  const { permission, whole }: ViewRow = VIEWS[view];
  const vaults = session.value?.token?.vaults ?? {};
  return vaultsWith(permission ?? "l", { vaults }).filter((id) => !whole || itemsIn(vaults[id]) === undefined);
}

/** Returns true if the session may open a view and use it. */
export const isOffered = (view: ViewName): boolean =>
  canOpen(view, session.value!) && (!("permission" in VIEWS[view]) || vaultsFor(view).length > 0);

/** Returns the views that the session is offered, in the order of the table. */
export const offeredViews = (): ViewName[] => (Object.keys(VIEWS) as ViewName[]).filter(isOffered);

/** Returns the view of an address. An address without a view shows the Items; an admin without vaults gets the first other view. */
export const shownView = (name: ViewName): ViewName => (name === "items" ? offeredViews()[0]! : name);
