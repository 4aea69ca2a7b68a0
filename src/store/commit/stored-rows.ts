import { isInVersion, type StoredItem } from "../../model/stored.ts";
import type { FileRow } from "../items/files.ts";
import { type KeptTexts, NOTHING_KEPT } from "./kept-rows.ts";
import type { Rows } from "./rows.ts";

/** What the rows of a snapshot tell without being opened. */

/** What D1 holds of each Item that has rows, by the ids of the Items. */
export function storedItems({ items, filesOf, kept, deleted }: Rows): Map<string, StoredItem> {
  const current = new Map(
    items.map(({ id, version, overview, details }) => [id, { version, bytes: overview.length + details.length }]),
  );
  const ids = new Set([...current.keys(), ...filesOf.keys(), ...kept.keys(), ...deleted.keys()]);
  return new Map(
    [...ids].map((id) => {
      const files = (filesOf.get(id) ?? []).map(({ id: file, generation, size, since, sealed }) => {
        return { id: file, generation, size, since, bytes: sealed.length };
      });
      return [id, { current: current.get(id), ...(kept.get(id) ?? NOTHING_KEPT), files, deleted: deleted.get(id) }];
    }),
  );
}

/** The rows of the Files of an earlier version, by their ids. */
export const fileRowsOfVersion = (
  { id, version }: KeptTexts["row"],
  ended: readonly FileRow[],
  filesOf: Rows["filesOf"],
): FileRow[] => {
  const lasting = (filesOf.get(id) ?? []).filter((row) => isInVersion(row, version));
  return [...lasting, ...ended].toSorted((a, b) => (a.id < b.id ? -1 : 1));
};
