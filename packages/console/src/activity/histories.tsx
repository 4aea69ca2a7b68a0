import { timeOf } from "@item-vault/model/ids";
import { itemsIn } from "@item-vault/model/permission";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { vaultLabel } from "../admin/lists.ts";
import { call } from "../state/client.ts";
import { isOwn } from "../state/names.ts";
import type { Opened } from "../state/opened.ts";
import { session } from "../state/session.ts";
import { FromNow } from "../ui/day.tsx";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { type Entry, isBroken, kindOf } from "./entries.ts";
import { EntryList } from "./entry-table.tsx";
import { createEntries, loadPages, loadNames, type NameList } from "./load.ts";

/** The activity of one Item or of one token, page by page. */

/** The number of entries shown before older ones are requested. Pages that found none are followed by the next ones. */
const SHOWN = 50;

function useEntries(load: Parameters<typeof loadPages>[0], ...names: readonly NameList[]) {
  const entries = useMemo(() => createEntries((before) => loadPages(load, before, { enough: SHOWN })), []);
  useLayoutEffect(() => {
    void entries.more();
    loadNames(...names);
  }, []);
  const { entries: listed, next } = entries.loaded.value;
  /** The time back to which the log was searched. Undefined if it was searched to its end. */
  const searched = next === undefined ? undefined : formatTime(new Date(timeOf(next)).toISOString());
  return { entries, listed, searched, isLoaded: entries.state.value === "loaded" };
}

/** What was done with an Item, and who else read it last. */
export function ItemActivity({ opened: { item } }: { readonly opened: Opened }) {
  // The log of a vault is closed to a token for some of its Items (contract 8.15).
  return itemsIn(session.value?.token?.vaults[item.vault.id]) === undefined ? (
    <Entries vault={item.vault.id} item={item.id} />
  ) : (
    <p class="quiet">Your access is limited to some items of this vault, so you can’t see its activity. Ask an administrator.</p>
  );
}

function Entries({ vault, item }: { readonly vault: string; readonly item: string }) {
  const { entries, listed, searched, isLoaded } = useEntries(
    (query) => call("GET /v1/activity", { query: { ...query, vault, item } }),
    "actors",
  );
  const last = listed.find((entry): entry is Entry => !isBroken(entry) && kindOf(entry) === "reads" && !isOwn(entry.actor.id));
  return (
    <>
      {(isLoaded || listed.length > 0) && (
        <p>
          {last === undefined ? (
            "Nobody else has read this item."
          ) : (
            <>
              Last read by <Who id={last.actor.id} vault="" /> <FromNow time={last.timestamp} />.
            </>
          )}{" "}
          <span class="quiet">
            {searched === undefined ? "The whole retained activity log was searched." : `Searched back to ${searched}.`}
          </span>
        </p>
      )}
      <EntryList entries={entries} />
    </>
  );
}

/** The last use of a token, for the admin, and its entries in all logs (contract 13.28). */
export function TokenActivity({ row: { id: token } }: { readonly row: { readonly id: string } }) {
  const { entries, listed, searched, isLoaded } = useEntries(
    (query) => call("GET /v1/admin/tokens/{token}/activity", { path: { token }, query }),
    "actors",
    "subjects",
  );
  // A damaged entry may be of another token.
  const last = listed.find((entry) => !isBroken(entry))?.timestamp;
  return (
    <>
      {last !== undefined ? (
        <p>
          Last used <FromNow time={last} />.
        </p>
      ) : searched !== undefined ? (
        <p>Not used since {searched}; older entries have not been searched yet.</p>
      ) : (
        isLoaded && <p>Never used (in the retained activity log).</p>
      )}
      <EntryList entries={entries} nameOfVault={vaultLabel} />
    </>
  );
}
