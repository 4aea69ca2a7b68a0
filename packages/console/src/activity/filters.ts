import { DAY_MS } from "../ui/time.ts";

/** The filters of a log's entries (contract 13.25). An empty filter accepts every entry. */

export interface Filters {
  readonly vault: string;
  readonly actor: string;
  readonly item: string;
  readonly kind: RequestKind | "";
  /** The first and the last day, as 2026-11-22, in the time zone of the browser. */
  readonly from: string;
  readonly until: string;
}

export const NO_FILTERS: Filters = { vault: "", actor: "", item: "", kind: "", from: "", until: "" };

/** The kinds of requests to choose from, with their parameters. All refused requests are one kind, whatever their action. */
export const REQUEST_KINDS = {
  created: { label: "Created", query: { action: "CREATE", result: "SUCCESS" } },
  changed: { label: "Changed", query: { action: "UPDATE", result: "SUCCESS" } },
  deleted: { label: "Deleted", query: { action: "DELETE", result: "SUCCESS" } },
  denied: { label: "Refused", query: { result: "DENY" } },
  reads: { label: "Reads", query: { action: "READ", result: "SUCCESS" } },
} as const;

export type RequestKind = keyof typeof REQUEST_KINDS;

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value !== "");

/** The parameters of the request; an empty filter is none. */
export const queryOf = ({ vault, actor, item, kind }: Filters) => ({
  ...(vault !== "" && { vault }),
  ...(actor !== "" && { actor }),
  ...(item !== "" && { item }),
  ...(kind !== "" && REQUEST_KINDS[kind].query),
});

/** The times between which entries are shown, in Unix milliseconds: from the first, and before the last. Absent: without a bound. */
export const boundsOf = ({ from, until }: Filters): { readonly from?: number; readonly before?: number } => ({
  ...(from !== "" && { from: startOf(from, 0) }),
  ...(until !== "" && { before: startOf(until, 1) }),
});

/**
 * Returns the beginning of a day in the browser's time zone, moved by a number of days. While a year is typed, a day may be out of range; it
 * becomes the first or last day.
 */
function startOf(day: string, later: number): number {
  const time = new Date(`${day}T00:00`);
  time.setDate(time.getDate() + later);
  return Math.min(Math.max(0, time.getTime()), Date.now() + DAY_MS);
}
