import { DAY } from "./time.ts";

/** Long-lived tokens that are about to expire (contract 13.3). Their users do not expect it. */

/** In milliseconds. Tokens with a shorter lifetime are reissued by their users, so their expiry is not reported. */
export const ENDING = { within: 14 * DAY, lifetimeAbove: 30 * DAY } as const;

/** Returns true if a token is long-lived and about to expire. Times are in Unix milliseconds. */
export const endsSoon = (createdAt: number, expiresAt: number, now: number): boolean =>
  expiresAt > now && expiresAt <= now + ENDING.within && expiresAt - createdAt > ENDING.lifetimeAbove;
