import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { fold } from "../../model/fold.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { BY_FOLDED_TITLE, FOLDED } from "../items/folded-index.ts";
import { fitting, largePage, ROWS } from "../items/list.ts";
import { type ItemRow, openSummary } from "../items/items.ts";
import { loadMore, type Reader } from "./rows.ts";

/** Titles that are not in the index of folded titles (decision 0021): their summaries are opened. */

type SummaryRow = Omit<ItemRow, "details">;

/** So many Items of one title are enough to tell that it is ambiguous. More would leave no room for those of other titles. */
const SAME_UNINDEXED = 2;

const UNINDEXED = largePage(`FROM ${BY_FOLDED_TITLE} WHERE vault_id = ?1 AND ${FOLDED} IS NULL`);

/**
 * Looks for titles among the Items of a vault whose titles are not indexed, slice by slice. In: the folded titles, and how many Items may
 * be looked at. Out: the ids of at most two Items of each title, none of them archived, and how many more Items may be looked at; below 0:
 * the search is not complete. An Item that does not open has no title. Errors: `unauthorized` (revoked), `unavailable`.
 */
export async function searchUnindexed(
  store: Store,
  reader: Reader,
  vault: { readonly id: string; readonly keys: VaultKeys },
  titles: ReadonlySet<string>,
  most: number,
): Promise<Result<{ ids: string[]; left: number }>> {
  const ids: string[] = [];
  const counts = new Map<string, number>();
  let left = most;
  for (let after: string | undefined = ""; after !== undefined;) {
    const limit = Math.min(ROWS, left);
    const statement: D1PreparedStatement = store.db.prepare(UNINDEXED).bind(vault.id, "", after, limit);
    const read: Result<SummaryRow[]> = await loadMore<SummaryRow>(store, reader, [vault.id], statement);
    if (!read.ok) return read;
    const listed = read.value;
    const rows = listed.slice(0, fitting(listed, limit));
    left -= rows.length;
    const summaries = await Promise.all(rows.map((row) => openSummary(vault.keys, vault.id, row)));
    for (const [place, row] of rows.entries()) {
      const summary = summaries[place]!;
      if (!summary.ok || summary.value.state === "ARCHIVED") continue;
      const title = fold(summary.value.title);
      const count = counts.get(title) ?? 0;
      if (!titles.has(title) || count >= SAME_UNINDEXED) continue;
      counts.set(title, count + 1);
      ids.push(row.id);
    }
    const more = rows.length < listed.length;
    if (more && left <= 0) return ok({ ids, left: -1 });
    after = more ? rows.at(-1)!.id : undefined;
  }
  return ok({ ids, left });
}
