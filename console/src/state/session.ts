import { signal } from "@preact/signals";
import type { Token } from "@item-vault/client";

/** Who is signed in (contract 24). */

export interface Session {
  readonly expiresAt: string;
  readonly admin: boolean;
  /** The token as which the session reads and writes; for a person one that only the service has. */
  readonly token?: Token;
  readonly person?: { readonly id: string; readonly email: string };
}

/**
 * `starting`: not yet known. `ended`: the service refused a session that the page had. `unreachable`: the service did not answer
 * at the start.
 */
export type SessionState = "starting" | "unreachable" | "signed-out" | "signed-in" | "ended";

export const session = signal<Session | undefined>(undefined);
export const sessionState = signal<SessionState>("starting");
/** What the sign-in page says besides its form: why a link did not sign in, or that the service did not answer. */
export const signInMessage = signal("");

/** Takes over an answer of the service. In: `undefined` when nobody is signed in. */
export function setSession(next: Session | undefined): void {
  session.value = next;
  sessionState.value = next ? "signed-in" : "signed-out";
  if (next) signInMessage.value = "";
}

/** Called when the service refuses the session. What the user has typed stays in the page. */
export function endSession(): void {
  if (sessionState.value === "signed-in") sessionState.value = "ended";
}
