import type { Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";

/** How one table is rewrapped. A row is what its `select` gives. */
export interface Rewrapped {
  readonly table: "vaults" | "tokens" | "ended_tokens";
  /** The most rows of a slice. Their new texts are one parameter of a statement, which D1 limits to 2 MB. */
  readonly rows: number;
  /** The columns besides `id` and `root_key_id`. */
  readonly columns: string;
  /** In: ?1 a JSON array of what `rewrap` gives, ?2 the id of the active key. Returns the ids that were written. */
  readonly update: string;
  /** Errors: `misconfigured`, `integrity`: the row does not open. */
  rewrap(store: Store, row: never): Promise<Result<object>>;
}
