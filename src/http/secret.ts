import { fail, type Refusal } from "../model/result.ts";
import { weaknessOf } from "../settings.ts";
import { countFailure } from "../requests/rate-limit.ts";
import { addressOf, type Context } from "./context.ts";

/**
 * Compares the request's bearer token with a secret. Out: `undefined` when they are equal. Errors: `misconfigured`, when the secret is a
 * placeholder or short; `unauthorized`, `rate`.
 */
export async function requireSecret(c: Context, secret: string): Promise<Refusal | undefined> {
  if (weaknessOf(secret)) return fail("misconfigured");
  const token = /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";
  return (await sameText(token, secret)) ? undefined : countFailure(c.env, addressOf(c), fail("unauthorized"));
}

/** Compares the hashes of two texts in constant time: the duration reveals neither the texts nor their lengths. */
export async function sameText(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestOf(a), await digestOf(b));
}

/** The SHA-256 of a text. */
export const digestOf = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
