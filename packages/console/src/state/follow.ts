import { effect, signal } from "@preact/signals";
import type { Session, VaultEvent } from "@item-vault/client";
import { sessionClient } from "./client.ts";
import { isErrorKind } from "../failures/error-kind.ts";
import { forgetShown, listedEntry, listState, loadChanged, loadWritten, listsAny, noteShown } from "./items.ts";
import { open, recheckItem } from "./opened.ts";
import { session, sessionState } from "./session.ts";
import { refreshItem } from "./written.ts";

/** Shows the writes of others: follows the events of all vaults (contract 15.9), and loads the changed Items. */

/** The least time between two loads, because an import sends an event for each Item. */
const PAUSE = 2_000; // milliseconds
/** The longest time between two attempts to load, each of which waits twice as long as the one before. */
const LONGEST_PAUSE = 30_000; // milliseconds

const visible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));

/** The start of the next stream: the list has everything before. Another session has other vaults. */
let position: { readonly session: Session; readonly cursor: string } | undefined;

/**
 * Begins to follow, as long as somebody is signed in and the page is visible. A hidden page has no stream, because a browser has few
 * connections to one host by HTTP/1.1. A page that is shown again gets the events that it has missed.
 */
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
  const load = createLoader(ended);
  const after = position?.session === reader ? position.cursor : "latest";
  position = undefined;
  let last = "";
  const onOpen = (cursor: string) => {
    last = cursor;
    // Writes since the lists were loaded may have no event in this stream.
    if (after === "latest") load();
  };
  // What is to be loaded still ends with the stream: then the next one begins at the newest write, and loads the lists.
  ended.addEventListener("abort", () => {
    if (last !== "" && load.isIdle()) position = { session: reader, cursor: last };
  });
  try {
    for await (const event of sessionClient.events({ after, signal: ended, onOpen })) {
      if (event.type === "reset") forgetShown();
      if (isShown(event) && !load.concerns(event.vault!, event.item!)) noteShown(event.vault!, event.sequence!);
      else load(event);
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

/** Number of ids in a filter (contract 5.11). More Items of a vault are loaded as the whole list. */
const ITEMS_MAX = 100;

/** The pending loads. */
interface Pending {
  /** The lists of all vaults that have changed. */
  all: boolean;
  /** By vault id, the written Items, and the numbers of those writes. */
  readonly vaults: Map<string, { readonly items: Set<string>; readonly sequences: number[] }>;
}

const nothingPending = (): Pending => ({ all: false, vaults: new Map() });
const allPending = (): Pending => ({ all: true, vaults: new Map() });

function addEvent(pending: Pending, { type, vault, item, sequence }: VaultEvent): void {
  const written = pending.vaults.get(vault ?? "") ?? { items: new Set<string>(), sequences: [] };
  if (vault === undefined || item === undefined || sequence === undefined || !type.startsWith("item.")) pending.all = true;
  else {
    written.items.add(item);
    written.sequences.push(sequence);
    pending.vaults.set(vault, written);
    pending.all ||= written.items.size > ITEMS_MAX;
  }
}

/** Returns true if everything pending was loaded. Otherwise this page has written during the load. */
async function loadPending({ all, vaults }: Pending, ended: AbortSignal): Promise<boolean> {
  if (all) return loadChanged(ended);
  const loaded = await Promise.all(
    Array.from(vaults, async ([vault, { items, sequences }]) => {
      const isNew = await loadWritten(vault, [...items], ended);
      if (isNew) for (const sequence of sequences) noteShown(vault, sequence);
      return isNew;
    }),
  );
  return !loaded.includes(false);
}

const hasItem = (pending: Pending | undefined, vault: string, item: string): boolean =>
  pending !== undefined && (pending.all || pending.vaults.get(vault)?.items.has(item) === true);

interface Loader {
  /** Loads the Item of an event, or without one all that has changed. Calls during a load and the pause after it are carried out by one load. */
  (event?: VaultEvent): void;
  /** Returns true if an Item is being loaded, or will be: the answer may be older than an event about it. */
  readonly concerns: (vault: string, item: string) => boolean;
  /** Returns true if everything is loaded. */
  readonly isIdle: () => boolean;
}

function createLoader(ended: AbortSignal): Loader {
  let pending: Pending | undefined;
  let taken: Pending | undefined;
  /** From the begin of a load to the end of the pause after it. */
  let isBusy = false;
  /** Number of consecutive failed loads. */
  let failures = 0;
  const run = async (): Promise<void> => {
    isBusy = true;
    while (pending && !ended.aborted) {
      taken = pending;
      pending = undefined;
      try {
        if (await loadPending(taken, ended)) await refreshOpen();
        else pending = allPending();
        failures = 0;
      } catch {
        // The list stays as it is until the next attempt.
        failures++;
        pending = allPending();
      }
      // Not after an abort: the unloaded parts are still missing.
      if (!ended.aborted) taken = undefined;
      await new Promise<void>((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE, PAUSE * 2 ** failures)));
    }
    isBusy = false;
  };
  const load = (event?: VaultEvent): void => {
    pending ??= nothingPending();
    if (event) addEvent(pending, event);
    else pending.all = true;
    if (!isBusy) void run();
  };
  return Object.assign(load, {
    concerns: (vault: string, item: string) => hasItem(pending, vault, item) || hasItem(taken, vault, item),
    isIdle: () => !pending && !taken,
  });
}

/** Loads the open Item again if the list has a later version of it, or does not have it. */
async function refreshOpen(): Promise<void> {
  const { value } = open;
  if (value.state !== "loaded") return;
  const { id, version, vault } = value.opened.item;
  const entry = listedEntry(vault.id, id);
  if (!entry) return recheckItem(vault.id, id);
  if (entry.item.version > version) await refreshItem(vault.id, id);
}
