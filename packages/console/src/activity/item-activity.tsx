import { useLayoutEffect, useMemo } from "preact/hooks";
import { timeOf } from "@item-vault/model/ids";
import { itemsIn } from "@item-vault/model/permission";
import { call } from "../state/client.ts";
import { isOwn } from "../state/names.ts";
import type { Opened } from "../state/opened.ts";
import { session } from "../state/session.ts";
import { FromNow } from "../ui/day.tsx";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { type Entry, isBroken, kindOf } from "./entries.ts";
import { EntryList } from "./entry-table.tsx";
import { createEntries, loadPages } from "./load.ts";
import { loadNames } from "./names.ts";

/** So many entries are shown before older ones are asked for. */
const SHOWN = 50;

/** What was done with an Item: who else read it last, and the entries of the log, page by page. */
export function ItemActivity({ opened: { item } }: { readonly opened: Opened }) {
  // The log of a vault is closed to a token for some of its Items (contract 8.15).
  return itemsIn(session.value?.token?.vaults[item.vault.id]) === undefined ? (
    <Entries vault={item.vault.id} item={item.id} />
  ) : (
    <p class="quiet">Your access is limited to some items of this vault, so you can’t see its activity. Ask an administrator.</p>
  );
}

function Entries({ vault, item }: { readonly vault: string; readonly item: string }) {
  const entries = useMemo(
    () =>
      createEntries((before) =>
        loadPages((query) => call("GET /v1/activity", { query: { ...query, vault, item } }), before, { enough: SHOWN }),
      ),
    [],
  );
  useLayoutEffect(() => {
    void entries.more();
    loadNames("actors");
  }, []);
  const { entries: listed, next } = entries.loaded.value;
  const last = listed.find((entry): entry is Entry => !isBroken(entry) && kindOf(entry) === "reads" && !isOwn(entry.actor.id));
  return (
    <>
      {(entries.state.value === "loaded" || listed.length > 0) && (
        <p>
          {last === undefined ? (
            "Nobody else has read this item."
          ) : (
            <>
              Last read by <Who id={last.actor.id} vault="" /> <FromNow time={last.timestamp} />.
            </>
          )}{" "}
          <span class="quiet">
            {next === undefined
              ? "The whole retained activity log was searched."
              : `Searched back to ${formatTime(new Date(timeOf(next)).toISOString())}.`}
          </span>
        </p>
      )}
      <EntryList entries={entries} />
    </>
  );
}
