import { useLayoutEffect, useMemo } from "preact/hooks";
import { timeOf } from "@item-vault/model/ids";
import { vaultLabel } from "../admin/lists.ts";
import { call } from "../state/client.ts";
import { FromNow } from "../ui/day.tsx";
import { formatTime } from "../ui/time.ts";
import { isBroken } from "./entries.ts";
import { EntryList } from "./entry-table.tsx";
import { createEntries, loadPages } from "./load.ts";
import { loadNames } from "./names.ts";

/** So many entries are shown before older ones are asked for. Pages that found none are followed by the next ones. */
const SHOWN = 50;

/** The activity of a token, for the admin: its last use, and its entries in all logs, page by page (contract 13.28). */
export function TokenActivity({ row: { id: token } }: { readonly row: { readonly id: string } }) {
  const entries = useMemo(() => {
    const path = { token };
    return createEntries((before) =>
      loadPages((query) => call("GET /v1/admin/tokens/{token}/activity", { path, query }), before, { enough: SHOWN }),
    );
  }, []);
  useLayoutEffect(() => {
    void entries.more();
    loadNames("actors", "subjects");
  }, []);
  const { entries: listed, next } = entries.loaded.value;
  // A damaged entry may be of another token.
  const last = listed.find((entry) => !isBroken(entry))?.timestamp;
  return (
    <>
      {last !== undefined ? (
        <p>
          Last used <FromNow time={last} />.
        </p>
      ) : next !== undefined ? (
        <p>Not used since {formatTime(new Date(timeOf(next)).toISOString())}; older entries have not been searched yet.</p>
      ) : (
        entries.state.value === "loaded" && <p>Never used (in the retained activity log).</p>
      )}
      <EntryList entries={entries} nameOfVault={vaultLabel} />
    </>
  );
}
