import { setTimeout as wait } from "node:timers/promises";
import { type Client, ItemVaultError } from "@item-vault/client";
import { failureOf } from "../frame/failure.ts";

/** Watches the values of references. */

interface Watch {
  readonly values: ReadonlyMap<string, string>;
  readonly resolve: (signal: AbortSignal) => Promise<Map<string, string>>;
  readonly onChange: (values: Map<string, string>) => void;
  /** Tells the user something. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

const SETTLE_MS = 300; // writes that follow each other are one change
const RETRY_MS = 10_000; // until the next attempt, when the service did not answer

/**
 * Calls `onChange` each time that a write to a vault has changed one of the values. An event names the Item and no value, so the
 * references are resolved again. Ends when `signal` aborts or the service refuses the token.
 */
export async function watchValues(
  client: Client,
  { values, resolve, onChange, say, signal, retry = RETRY_MS }: Watch & { readonly retry?: number },
): Promise<void> {
  let current = values;
  let due = false;
  let checking: Promise<void> | undefined;

  async function check(): Promise<void> {
    let pause = SETTLE_MS;
    while (due && !signal.aborted) {
      await wait(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      due = false;
      pause = SETTLE_MS;
      const next = await resolve(signal).catch((error: unknown) => {
        if (signal.aborted) return;
        say(`a vault has changed, but its secrets could not be read: ${messageOf(error)}`);
        // No later event reports this change.
        if (failureOf(error)?.exit === "unavailable") [due, pause] = [true, retry];
      });
      if (!next || [...next].every(([reference, value]) => current.get(reference) === value)) continue;
      current = next;
      if (!signal.aborted) onChange(next);
    }
  }

  const arrived = () => {
    due = true;
    checking ??= check().finally(() => (checking = undefined));
  };
  // Also when the stream opens: a write may have come between the first resolve and the stream.
  const read = async () => {
    for await (const _ of client.events({ signal, onOpen: arrived })) arrived();
  };
  let missed = true;
  while (missed) {
    missed = false;
    await read().catch((error: unknown) => {
      missed = error instanceof ItemVaultError && error.kind === "cursor_gone";
      if (!missed) say(`no longer watching for changes: ${messageOf(error)}`);
    });
  }
}

const messageOf = (error: unknown): string => failureOf(error)?.message ?? "an unexpected fault";
