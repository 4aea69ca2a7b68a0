import { fail, ok, type Result } from "../model/result.ts";
import { weaknessOf } from "../settings.ts";
import type { Context } from "./context.ts";

/** Returns the bearer token of a request, or "". */
export const bearerOf = (c: Context): string => /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";

/** Returns true if the request's bearer token is a secret. Fails with `misconfigured` if the secret is a placeholder or short. */
export async function isSecret(c: Context, secret: string): Promise<Result<boolean>> {
  return weaknessOf(secret) ? fail("misconfigured") : ok(await sameText(bearerOf(c), secret));
}

/** Compares the hashes of two texts in constant time: the duration reveals neither the texts nor their lengths. */
export async function sameText(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestOf(a), await digestOf(b));
}

/** Returns the SHA-256 of a text. */
export const digestOf = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
