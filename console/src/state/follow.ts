import { effect, signal } from "@preact/signals";
import { ItemVaultError, type VaultEvent } from "@item-vault/client";
import { sessionClient } from "../api/client.ts";
import { entries, listState, loadChanged, listsAny } from "./items.ts";
import { open, recheckItem } from "./opened.ts";
import { session, sessionState } from "./session.ts";
import { refreshItem } from "./written.ts";

/** Shows what others write: follows the events of all vaults (contract 15.9), and loads the lists of vaults that have changed. */

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
    for await (const event of sessionClient.events({ signal: ended, onOpen: load })) if (!isShown(event)) load();
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

/** Out: a function that loads what has changed. Calls during a load and the pause after it are carried out by one load. */
function loadInTurn(ended: AbortSignal): () => void {
  let [wanted, running] = [false, false];
  const run = async (): Promise<void> => {
    running = true;
    while (wanted && !ended.aborted) {
      wanted = false;
      await loadChanged(ended)
        .then((isNew) => (isNew ? refreshOpen() : void (wanted = true)))
        .catch(() => undefined); // The list stays as it is until the next event.
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE));
    }
    running = false;
  };
  return () => {
    wanted = true;
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
