import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../frame/reasons.ts";
import { encodeCopy, removeCopy, writeCopy } from "./copy-file.ts";
import { type Copy, wallTimeOf } from "./copy.ts";

/** Stores the copy when it has changed, and now and then the time until which it is known to be right. */

export interface Saver {
  /** Stores the changes. A failure is reported, and the copy continues in memory. */
  readonly save: () => Promise<void>;
  /** Removes the stored copy. A failure is told. */
  readonly remove: () => Promise<void>;
  /** Why the copy could not be stored or removed the last time, for example `ENOSPC`. */
  readonly fault: () => string | undefined;
}

interface Options {
  readonly path: string;
  /** Milliseconds by which the confirmation of the stored copy may lag behind the copy in memory. */
  readonly lagMax: number;
  readonly say: (message: string) => void;
}

export function createSaver(copy: Copy, { path, lagMax, say }: Options): Saver {
  let stored = { changes: copy.changes, confirmedAt: confirmedAt(copy) };
  let fault: string | undefined;
  let last: Promise<void> = Promise.resolve();
  // After the clock was set back, the time is an earlier one.
  const isDue = () => copy.changes !== stored.changes || Math.abs(confirmedAt(copy) - stored.confirmedAt) > lagMax;
  const write = async () => {
    if (!isDue()) return;
    const next = { changes: copy.changes, confirmedAt: confirmedAt(copy) };
    const bytes = encodeCopy(copy);
    try {
      if (bytes) await writeCopy(path, bytes);
      stored = next;
      if (fault !== undefined) say("the copy is stored again");
      fault = undefined;
    } catch (error) {
      if (fault === undefined) say(`the copy cannot be stored (${codeOf(error)}), and goes on in memory`);
      fault = codeOf(error);
    }
  };
  const remove = async () => {
    try {
      await removeCopy(path);
    } catch (error) {
      fault = codeOf(error);
      say(`the copy cannot be removed (${fault}): delete ${path}`);
    }
  };
  const inTurn = (run: () => Promise<void>): Promise<void> => (last = last.then(run));
  return { save: () => inTurn(write), remove: () => inTurn(remove), fault: () => fault };
}

/** The moment until which every vault is confirmed: Unix milliseconds; 0 when one is not. */
const confirmedAt = ({ vaults }: Copy): number =>
  vaults.size === 0 ? 0 : Math.min(...[...vaults.values()].map(({ confirmed }) => (confirmed ? wallTimeOf(confirmed) : 0)));

/** Stores the copy every `interval` milliseconds until the signal aborts, and once more then. */
export async function saveRegularly({ save }: Saver, interval: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(interval, undefined, { signal }).catch(() => undefined);
    await save();
  }
}
