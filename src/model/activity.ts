/** The activity log: what was done in a vault, or tried, by whom and from where. Ids, versions and times: no value that an Item holds. */

/** Where a request came from, as far as the service can tell. */
export interface Origin {
  readonly userAgent: string;
  /** The client's address; empty where there is none, as in tests. */
  readonly requestIp: string;
}

export type Action = "READ" | "CREATE" | "UPDATE" | "DELETE";

/** One request. */
export interface Activity {
  /** A UUIDv7: it tells the time. Of a write, the id of its operation. */
  readonly id: string;
  /** Whose log it belongs to: a vault's, or, for the list of vaults, that of the token which asked for it. */
  readonly log: string;
  readonly action: Action;
  readonly result: "SUCCESS" | "DENY";
  /** A token's id, or `admin`. */
  readonly actor: string;
  readonly item: string | null;
  /** The Item's: after a write, or as it was read. */
  readonly version: number | null;
  readonly origin: Origin;
}
