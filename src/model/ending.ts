import { DAY } from "./time.ts";

/** Which tokens end soon (contract 13.3): those that whoever uses them does not expect to. */

/** In milliseconds. A token of a shorter lifetime is issued anew by what uses it, so its end is no news. */
export const ENDING = { within: 14 * DAY, lifetimeAbove: 30 * DAY } as const;

/** In: Unix milliseconds. */
export const endsSoon = (createdAt: number, expiresAt: number, now: number): boolean =>
  expiresAt > now && expiresAt <= now + ENDING.within && expiresAt - createdAt > ENDING.lifetimeAbove;
