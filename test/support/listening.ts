import { vi } from "vitest";
import { channels, listeners, type Listener, wake } from "../../src/http/events/hub.ts";
import { UNDER_LOAD, until } from "./waits.ts";

/** The state of the requests of this isolate that wait for events. */

/** Whether a request has nothing to do: it waits for the time of its next task, or for news. */
export const isAsleep = ({ resolve, woken }: Listener): boolean => resolve !== undefined && !woken;

/**
 * Resolves when so many requests wait for events of the vault, its coordinator tells one of them of writes, and none of them calls D1
 * before there is a write or the next check is due.
 */
export const listening = (vault: string, count = 1): Promise<void> =>
  until(() => {
    const channel = channels.get(vault);
    return (
      channel?.listeners.size === count && channel.owner !== undefined && !channel.stale && [...channel.listeners].every(isAsleep)
    );
  });

/** Resolves when a request of the isolate waits. */
export const anyAsleep = (): Promise<void> => until(() => [...listeners].some(isAsleep));

/**
 * Ends the fake time of a test. Resolves when no request waits for events. A request whose timer was a fake one has none any more, so it ends
 * as one that the hub displaces. For `afterEach`.
 */
export async function endListening(): Promise<void> {
  vi.useRealTimers();
  await vi.waitFor(() => {
    for (const listener of listeners) displace(listener);
    if (listeners.size + channels.size > 0) throw new Error("a request still waits for events");
  }, UNDER_LOAD);
}

function displace(listener: Listener): void {
  listener.displaced = true;
  wake(listener);
}
