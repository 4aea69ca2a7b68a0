import { setTimeout as sleep } from "node:timers/promises";
import { askedDelayOf, ItemVaultError, retryDelayOf } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";

/** The pauses between attempts to read from the service. All vaults share the attempts: an answer for one vault ends the pauses of all. */
export interface Attempts {
  /**
   * Waits after a failure for the next attempt: until the signal aborts, or the service has answered another request. `failures` is the
   * number of consecutive failures before. Rethrows a CliError.
   */
  readonly failed: (error: unknown, failures: number, signal: AbortSignal) => Promise<void>;
  /** Records that the service has answered a request for the copy. */
  readonly succeeded: () => void;
  /** Is told that the service has answered a client. */
  readonly answered: () => void;
}

/** Minimum of a long pause, in milliseconds. A vault that alone fails is not requested again at each answer for another vault. */
const PAUSE_MS_MIN = 2_000;

const MALFORMED = "The answer of the service is malformed";
/** Returns the failure of an answer whose shape differs from the contract. */
export const malformed = (): ItemVaultError => new ItemVaultError(MALFORMED, { kind: "network", status: 0 });

/** Waits. It ends early when the signal aborts. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/** Creates the pauses. `say` informs the user once when the service goes away, and once when it is back. */
export function createAttempts(say: (message: string) => void): Attempts {
  let isAway = false;
  let next = new AbortController();
  const answered = () => {
    next.abort();
    next = new AbortController();
  };
  return {
    async failed(error, failures, signal) {
      if (error instanceof CliError) throw error;
      const failure = error instanceof ItemVaultError ? error : malformed();
      if (!isAway) say(`${printable(failure.message)}: trying again`);
      isAway = true;
      const delay = retryDelayOf(failures, failure);
      const least = Math.min(delay, askedDelayOf(failure) + PAUSE_MS_MIN);
      const ended = AbortSignal.any([signal, next.signal]);
      await pause(least, signal);
      await pause(delay - least, ended);
    },
    succeeded() {
      if (isAway) say("the service answers again");
      isAway = false;
      answered();
    },
    answered,
  };
}
