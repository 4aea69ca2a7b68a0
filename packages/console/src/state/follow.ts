import type { Session, VaultEvent } from "@item-vault/client";
import { effect, signal } from "@preact/signals";
import { isErrorKind, canRepeat } from "../failures/explain.ts";
import { sessionClient } from "./client.ts";
import { forgetShown, listedEntry, listState, listsAny, loadChanged, loadWritten } from "./items.ts";
import { isOpen, open, refreshItem } from "./opened.ts";
import { session, sessionState } from "./session.ts";

/** Shows the writes of others: follows the events of all vaults (contract 15.9), and loads the changed Items. */

/** The minimum time between two loads, because an import sends an event for each Item. Doubled after each failed load. */
const PAUSE = 2_000; // milliseconds
const PAUSE_MAX = 30_000; // milliseconds
/** Number of ids in a filter (contract 5.11). More Items of a vault are loaded as the whole list. */
const ITEMS_MAX = 100;

const visible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));

/** The start of the next stream: the list has everything before. Another session has other vaults. */
let position: { readonly session: Session; readonly cursor: string } | undefined;

/** Follows while somebody is signed in and the page is visible: a browser has few connections to one host. A page that is shown again catches up. */
export function followWrites(): void {
  effect(() => {
    const reader = sessionState.value === "signed-in" && listsAny() ? session.value : undefined;
    if (!reader || !visible.value || listState.value !== "loaded") return undefined;
    const controller = new AbortController();
    void follow(reader, controller.signal);
    return () => controller.abort();
  });
}

async function follow(reader: Session, ended: AbortSignal): Promise<void> {
  const { load, isIdle } = createLoader(ended);
  const after = position?.session === reader ? position.cursor : "latest";
  position = undefined;
  let last = "";
  const onOpen = (cursor: string) => {
    last = cursor;
    // Writes since the lists were loaded may have no event in this stream.
    if (after === "latest") load();
  };
  // Pending loads end with the stream: the next stream begins at the newest write, and loads the lists.
  ended.addEventListener("abort", () => {
    if (last !== "" && isIdle()) position = { session: reader, cursor: last };
  });
  try {
    for await (const event of sessionClient.events({ after, signal: ended, onOpen })) {
      if (event.type === "reset") forgetShown();
      // An answer that is being loaded may be older than the event.
      if (!isIdle() || !isShown(event)) load(event);
      last = event.cursor;
    }
  } catch (error) {
    // The database was restored (contract 15.5): the new stream begins at its newest write, and then loads the lists.
    if (isErrorKind(error, "cursor_gone")) {
      forgetShown();
      return follow(reader, ended);
    }
    // The session may have ended. Then this request asks to sign in again.
    load();
  }
}

/** Returns true if the list shows the state after an event, as it does after a write of this page. */
function isShown({ type, vault = "", item = "", version = Infinity }: VaultEvent): boolean {
  const entry = listedEntry(vault, item);
  return type === "item.deleted" || type === "item.destroyed" ? !entry : entry !== undefined && entry.item.version >= version;
}

/**
 * Loads the Item of each event, or without an event everything that has changed. Calls during a load and the pause after it share one load.
 */
function createLoader(ended: AbortSignal) {
  /** The ids of written Items by vault, or the lists of all vaults that have changed. */
  let pending: Map<string, Set<string>> | "all" | undefined;
  let isLoading = false;
  let isBusy = false;
  let failures = 0;
  const run = async (): Promise<void> => {
    isBusy = true;
    while (pending && !ended.aborted) {
      const taken = pending;
      pending = undefined;
      isLoading = true;
      try {
        if (taken !== "all") await Promise.all(Array.from(taken, ([vault, ids]) => loadWritten(vault, [...ids], ended)));
        else if (!(await loadChanged(ended))) pending = "all";
        await refreshOpen();
        failures = 0;
      } catch {
        failures++;
        pending = "all"; // The list stays as it is until the next attempt.
      }
      isLoading = false;
      await new Promise<void>((resolve) => setTimeout(resolve, Math.min(PAUSE_MAX, PAUSE * 2 ** failures)));
    }
    isBusy = false;
  };
  const load = ({ type, vault, item }: Partial<VaultEvent> = {}): void => {
    if (pending === "all" || vault === undefined || item === undefined || !type?.startsWith("item.")) pending = "all";
    else {
      pending ??= new Map();
      const ids = pending.get(vault) ?? new Set();
      pending.set(vault, ids.add(item));
      if (ids.size > ITEMS_MAX) pending = "all";
    }
    if (!isBusy) void run();
  };
  return { load, isIdle: () => !pending && !isLoading };
}

/**
 * Loads the open Item again if the list has a later version of it, or does not have it. The list may be older than the Item. So the Item
 * stays until an answer refuses it: the Item or its vault no longer exists, or the session lost access.
 */
async function refreshOpen(): Promise<void> {
  const { value } = open;
  if (value.state !== "loaded") return;
  const { id, version, vault } = value.opened.item;
  const entry = listedEntry(vault.id, id);
  if (entry && entry.item.version <= version) return;
  try {
    await refreshItem(vault.id, id);
  } catch (error) {
    if (canRepeat(error)) throw error;
    if (isOpen(vault.id, id)) open.value = { state: "failed", key: value.key, error };
  }
}
