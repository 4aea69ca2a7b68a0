import { into } from "../tables/statements.ts";

/**
 * Compare and swap in D1. A batch is a transaction, but a statement that matches no row does not fail it. So a fence gives NULL to a column
 * that is NOT NULL unless its condition holds: D1 refuses the NULL, and rolls the whole batch back, which `tryBatch` reports as `stale`.
 *
 * Where each row may be written or left by itself, a statement compares the row in its WHERE, and RETURNING tells which were written: the
 * rewrapping of root keys (rotation/rewrap.ts), and the rows of webhooks (commit/webhooks.ts).
 */

/** SQL: a statement that is a fence and writes nothing. In: its condition. */
export const fence = (condition: string): string => `INSERT ${into("deployment")} SELECT NULL WHERE NOT (${condition})`;

/** SQL: a value for a NOT NULL column of rows that a batch inserts anyway, so that its fence takes no statement of its own. */
export const fencedValue = (condition: string, value: string): string => `iif(${condition}, ${value}, NULL)`;
