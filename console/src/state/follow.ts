import { effect, signal } from "@preact/signals";
import { ItemVaultError, type VaultEvent } from "@item-vault/client";
import { sessionClient } from "../api/client.ts";
import { entries, listState, loadChanged, loadWritten, listsAny, noteSequence } from "./items.ts";
import { open, recheckItem } from "./opened.ts";
import { session, sessionState } from "./session.ts";
import { refreshItem } from "./written.ts";

/** Shows what others write: follows the events of all vaults (contract 15.9), and loads the Items that have changed. */

/** The least time between two loads, because an import sends an event for each Item; and before the first, which can wait. */
const PAUSE = 2_000; // milliseconds

const visible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));

/**
 * Begins to follow, as long as somebody is signed in and the page is visible. A hidden page has no stream, because a browser has few
 * connections to one host by HTTP/1.1. A page that is shown again, or whose stream is opened again, loads what it has missed.
 */
export function followWrites(): void {
  effect(() => {
    // Another session has other vaults.
    const reading = sessionState.value === "signed-in" && session.value !== undefined && listsAny();
    if (!reading || !visible.value || listState.value !== "loaded") return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => void follow(controller.signal), PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function follow(ended: AbortSignal): Promise<void> {
  const load = loadInTurn(ended);
  try {
    for await (const event of sessionClient.events({ signal: ended, onOpen: () => load() })) {
      if (isShown(event)) noteSequence(event.vault!, event.sequence!);
      else load(event);
    }
  } catch (error) {
    // The database was restored (contract 15.5): the new stream begins at its newest write, and then loads the lists.
    if (error instanceof ItemVaultError && error.kind === "cursor_gone") return follow(ended);
    // The session may have ended. Then this request asks to sign in again.
    load();
  }
}

/** Whether the list shows the state after an event, as it does after a write of this page. */
function isShown({ type, item, version = Infinity }: VaultEvent): boolean {
  const entry = entries.peek().find((each) => each.item.id === item);
  return type === "item.deleted" || type === "item.destroyed" ? !entry : entry !== undefined && entry.item.version >= version;
}

/** More Items of a vault are loaded as the whole list: so many ids a filter may have (contract 5.11). */
const ITEMS_MAX = 100;

/** What is to be loaded. */
interface Pending {
  /** The lists of all vaults that have changed. */
  all: boolean;
  /** By the id of a vault, the Items that were written, and the number of the last of those writes. */
  readonly vaults: Map<string, { readonly items: Set<string>; sequence: number }>;
}

const nothingPending = (): Pending => ({ all: false, vaults: new Map() });

function addEvent(pending: Pending, { type, vault, item, sequence }: VaultEvent): void {
  const written = pending.vaults.get(vault ?? "") ?? { items: new Set<string>(), sequence: 0 };
  if (vault === undefined || item === undefined || sequence === undefined || !type.startsWith("item.")) pending.all = true;
  else {
    written.items.add(item);
    written.sequence = sequence;
    pending.vaults.set(vault, written);
    pending.all ||= written.items.size > ITEMS_MAX;
  }
}

/** Out: whether all that is pending was loaded; otherwise this page has written in the meantime. */
async function loadPending({ all, vaults }: Pending, ended: AbortSignal): Promise<boolean> {
  if (all) return loadChanged(ended);
  const loaded = await Promise.all(
    Array.from(vaults, async ([vault, { items, sequence }]) => {
      const isNew = await loadWritten(vault, [...items], ended);
      if (isNew) noteSequence(vault, sequence);
      return isNew;
    }),
  );
  return !loaded.includes(false);
}

/**
 * Out: a function that loads the Item of an event, or without one all that has changed. Calls during a load and the pause after it are
 * carried out by one load.
 */
function loadInTurn(ended: AbortSignal): (event?: VaultEvent) => void {
  let pending: Pending | undefined;
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    while (pending && !ended.aborted) {
      const taken = pending;
      pending = undefined;
      try {
        if (await loadPending(taken, ended)) await refreshOpen();
        else pending = { ...nothingPending(), all: true };
      } catch {
        failed = true; // The list stays as it is until the next event.
      }
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE));
    }
    running = false;
  };
  /** Whether a load has failed: then the next one has to load all that has changed. */
  let failed = false;
  return (event) => {
    pending ??= nothingPending();
    if (event) addEvent(pending, event);
    else pending.all = true;
    pending.all ||= failed;
    failed = false;
    if (!running) void run();
  };
}

/** Loads the open Item again when the list has a later version of it, or does not have it. */
async function refreshOpen(): Promise<void> {
  const { value } = open;
  if (value.state !== "loaded") return;
  const { id, version, vault } = value.opened.item;
  const entry = entries.value.find((each) => each.item.id === id);
  if (!entry) return recheckItem(vault.id, id);
  if (entry.item.version > version) await refreshItem(vault.id, id);
}
