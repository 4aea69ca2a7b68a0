/** What `admin verify` shows (contract 22). */

export interface Finding {
  readonly kind: string;
  readonly vault?: string;
  readonly item?: string;
  readonly file?: string;
  readonly version?: number;
  readonly id?: string;
  readonly table?: string;
  readonly snapshot?: number;
  readonly detail: string;
  readonly repairable: boolean;
  readonly repaired?: boolean;
}

/** A finding in one line, without a text of a user. */
export function lineOf({ kind, vault, item, file, version, table, id, detail }: Finding): string {
  const named = { vault, item, version, file, table, record: id };
  const words = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `${kind}: ${[...words, detail].join(", ")}`;
}

export interface Checked {
  rows: number;
  items: number;
  contents: number;
  bytes: number;
}

export const NOTHING: Checked = { rows: 0, items: 0, contents: 0, bytes: 0 };

/** What a run found. */
export interface Found {
  readonly findings: Finding[];
  readonly checked: Checked;
}
