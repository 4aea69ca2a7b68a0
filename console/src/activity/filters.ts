/** What the entries of a log are filtered by (contract 13.25). An empty filter lets every entry through. */

export interface Filters {
  readonly vault: string;
  readonly actor: string;
  readonly item: string;
  readonly kind: RequestKind | "";
}

export const NO_FILTERS: Filters = { vault: "", actor: "", item: "", kind: "" };

/** The kinds of requests that can be chosen, with their parameters. Every refused request is one kind, whatever it tried. */
export const REQUEST_KINDS = {
  reads: { label: "Reads", query: { action: "READ", result: "SUCCESS" } },
  created: { label: "Created", query: { action: "CREATE", result: "SUCCESS" } },
  changed: { label: "Changed", query: { action: "UPDATE", result: "SUCCESS" } },
  deleted: { label: "Deleted", query: { action: "DELETE", result: "SUCCESS" } },
  denied: { label: "Refused", query: { result: "DENY" } },
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
