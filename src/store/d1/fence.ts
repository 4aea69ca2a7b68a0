import { into } from "../tables/statements.ts";

/**
 * Compare and swap in D1. A batch is a transaction, but a statement that matches no row does not fail it. A fence therefore writes NULL to a
 * NOT NULL column unless its condition holds. D1 refuses the NULL and rolls the whole batch back, which `tryBatch` reports as `stale`.
 *
 * If each row can be written independently, a statement compares the row in its WHERE, and RETURNING shows which rows were written. Examples
 * are the rewrapping of root keys (rotation/rewrap.ts) and the rows of webhooks (commit/webhooks.ts).
 */

/** Returns SQL of a fence with this condition. The statement writes nothing. */
export const fence = (condition: string): string => `INSERT ${into("deployment")} SELECT NULL WHERE NOT (${condition})`;

/** SQL: a value for a NOT NULL column of rows that a batch inserts anyway, so that its fence takes no statement of its own. */
export const fencedValue = (condition: string, value: string): string => `iif(${condition}, ${value}, NULL)`;
