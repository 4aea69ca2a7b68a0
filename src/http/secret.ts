import { fail, type Refusal } from "../model/result.ts";
import { countFailure } from "./rate.ts";
import type { Call } from "./route.ts";

/** Compares the request's bearer token with a secret of the service. Out: `undefined` when it is that. Errors: `unauthorized`, `rate`. */
export async function requireSecret(c: Call, secret: string): Promise<Refusal | undefined> {
  const given = /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";
  return (await sameText(given, secret)) ? undefined : countFailure(c, fail("unauthorized"));
}

/** Compares in a time that tells nothing of the texts: hashes have one length, and are compared in constant time. */
async function sameText(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b));
}

const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
