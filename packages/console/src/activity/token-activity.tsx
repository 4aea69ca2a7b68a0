import { useSignal } from "@preact/signals";
import { timeOf } from "@item-vault/model/ids";
import { useLayoutEffect } from "preact/hooks";
import { call } from "../state/client.ts";
import { entries as items } from "../state/items.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { formatFromNow } from "../ui/relative-time.ts";
import { named } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { isBroken } from "./entries.ts";
import { EntryTable } from "./entry-table.tsx";
import { type Loaded, loadPages, type PageQuery } from "./load.ts";
import { MoreEntries } from "./more-entries.tsx";
import { loadNames } from "./names.ts";

/** The activity of a token, for the admin: its last use, and its entries in all logs, page by page (contract 13.28). */

interface Props {
  readonly id: string;
  readonly name: string;
  /** Returns the name of a vault for the admin, by its canonical id. */
  readonly nameOfVault: (id: string) => string;
  readonly onClose: () => void;
}

/** So many entries are shown before older ones are asked for. Pages that found none are followed by the next ones. */
const SHOWN = 50;

export function TokenActivity({ id, name, nameOfVault, onClose }: Props) {
  const loaded = useSignal<Loaded>({ entries: [] });
  const state = useSignal<"loading" | "loaded" | "failed">("loading");
  const failure = useSignal<unknown>(undefined);
  const load = async () => {
    state.value = "loading";
    try {
      const page = await loadPages((query: PageQuery) => read(id, query), loaded.value.next, { enough: SHOWN });
      loaded.value = { ...page, entries: [...loaded.value.entries, ...page.entries] };
      state.value = "loaded";
    } catch (error) {
      [failure.value, state.value] = [error, "failed"];
    }
  };
  useLayoutEffect(() => {
    void load();
    loadNames("actors", "subjects");
  }, []);
  const { entries } = loaded.value;
  return (
    <Dialog title={`Activity of ${named(name)}`} onClose={onClose}>
      <div class="rows">
        {state.value === "failed" && <Failure error={failure.value} retry={() => void load()} />}
        {(state.value === "loaded" || entries.length > 0) && <LastUse loaded={loaded.value} />}
        {entries.length > 0 && <EntryTable entries={entries} items={items.value} nameOfVault={nameOfVault} />}
        <MoreEntries loaded={loaded.value} isLoading={state.value === "loading"} onMore={() => void load()} />
      </div>
      <Done onClose={onClose} />
    </Dialog>
  );
}

const read = (token: string, query: PageQuery) => call("GET /v1/admin/tokens/{token}/activity", { path: { token }, query });

/** The newest entry is the last use. A damaged one may be of another token. */
function LastUse({ loaded: { entries, next } }: { readonly loaded: Loaded }) {
  const last = entries.find((entry) => !isBroken(entry))?.timestamp;
  if (last !== undefined)
    return (
      <p>
        Last used{" "}
        <time dateTime={last} title={formatTime(last)}>
          {formatFromNow(last, Date.now())}
        </time>
        .
      </p>
    );
  return next === undefined ? (
    <p>Never used (in the retained activity log).</p>
  ) : (
    <p>Not used since {formatTime(new Date(timeOf(next)).toISOString())}; older entries have not been searched yet.</p>
  );
}
