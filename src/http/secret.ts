import { fail, ok, type Refusal, type Result } from "../model/result.ts";
import { weaknessOf } from "../settings.ts";
import { countFailure } from "../requests/rate-limit.ts";
import { addressOf, type Context } from "./context.ts";

/** The bearer token of a request; empty without one. */
export const bearerOf = (c: Context): string => /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";

/** Whether the request's bearer token is a secret. Errors: `misconfigured`, when the secret is a placeholder or short. */
export async function isSecret(c: Context, secret: string): Promise<Result<boolean>> {
  return weaknessOf(secret) ? fail("misconfigured") : ok(await sameText(bearerOf(c), secret));
}

/**
 * Compares the request's bearer token with a secret. Out: `undefined` when they are equal. Errors: `misconfigured`, `unauthorized`, `rate`.
 */
export async function requireSecret(c: Context, secret: string): Promise<Refusal | undefined> {
  const equal = await isSecret(c, secret);
  if (!equal.ok) return equal;
  return equal.value ? undefined : countFailure(c.env, addressOf(c), fail("unauthorized"));
}

/** Compares the hashes of two texts in constant time: the duration reveals neither the texts nor their lengths. */
export async function sameText(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestOf(a), await digestOf(b));
}

/** The SHA-256 of a text. */
export const digestOf = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
