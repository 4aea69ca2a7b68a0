import { formatBase64url } from "../model/base64url.ts";
import { LIMITS } from "../model/limits.ts";
import { SECOND } from "../model/time.ts";
import { createConsoleSecret, parseConsoleSecret } from "./console-secret.ts";
import type { Keyring } from "./keyring.ts";

/**
 * A sign-in that waits for the identity provider (OpenID Connect Core 1.0 section 3.1). The service stores nothing: the browser keeps 192
 * random bits in a cookie. `state`, `nonce` and the code verifier (RFC 7636 section 4.1) are hashes of these bits. An answer is therefore
 * valid only in the browser that started the sign-in. `state` begins with the Unix second at which it expires.
 */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Makes a sign-in, and the text for its cookie. `now` is in Unix milliseconds. */
export async function createPendingSignIn(keyring: Keyring, now: number): Promise<PendingSignIn & { readonly text: string }> {
  const { text } = await createConsoleSecret(keyring, "sign-in");
  return { text, ...(await pendingOf(text, Math.floor(now / SECOND) + LIMITS.pendingSignIn)) };
}

/** Returns the sign-in of a cookie, or `undefined` unless this service made the cookie and the sign-in has not expired. */
export async function parsePendingSignIn(
  keyring: Keyring,
  text: string,
  state: string,
  now: number,
): Promise<PendingSignIn | undefined> {
  const expiresAt = Number(/^(\d{1,12})\./.exec(state)?.[1] ?? 0);
  const isOurs = (await parseConsoleSecret(keyring, "sign-in", text)) !== undefined;
  const isCurrent = expiresAt * SECOND > now && expiresAt * SECOND <= now + LIMITS.pendingSignIn * SECOND;
  return isOurs && isCurrent ? pendingOf(text, expiresAt) : undefined;
}

async function pendingOf(text: string, expiresAt: number): Promise<PendingSignIn> {
  const [state, nonce, verifier] = await Promise.all(
    [`state ${expiresAt}`, "nonce", "verifier"].map((use) => hashOf(`${use} ${text}`)),
  );
  return { state: `${expiresAt}.${state}`, nonce: nonce!, verifier: verifier! };
}

/** Returns the SHA-256 of a text in base64url: 43 characters. */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return formatBase64url(new Uint8Array(digest));
}
