import type { Finding } from "@item-vault/client";
import type { Checked } from "../jobs/service.ts";

/** The output of `admin verify` (contract 22). */

/** A finding in one line, without a text of a user. */
export function lineOf({ kind, vault, item, file, version, table, id, detail }: Finding): string {
  const named = { vault, item, version, file, table, record: id };
  const words = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `${kind}: ${[...words, detail].join(", ")}`;
}

export const NOTHING: Checked = { rows: 0, items: 0, contents: 0, bytes: 0 };

/** The results of a run. */
export interface Found {
  readonly findings: Finding[];
  readonly checked: Checked;
}
