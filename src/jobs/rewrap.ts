import { ok } from "../model/result.ts";
import { writeStep } from "../store/jobs/step-fence.ts";
import { FIRST_SLICE, type RewrapCursor, rewrapSlice } from "../store/rotation/rewrap.ts";
import type { KindOfJob } from "./kind.ts";

/** The job that puts all rows under the active root key (contract 20.3). A step is one slice. */

interface RewrapState {
  readonly cursor: RewrapCursor;
  /** The number of the last write (store/jobs/step-fence.ts). */
  readonly writes: number;
  /** Rows that are, or were, under other keys; 0 before the first slice. */
  readonly total: number;
  /** How many there were when this pass began; `null` before its first slice. */
  readonly passRows: number | null;
}

export const REWRAP: KindOfJob<object, RewrapState> = {
  format: 1,
  holds: () => "root keys",
  start: () => ({ cursor: FIRST_SLICE, writes: 0, total: 0, passRows: null }),
  async step({ store, job }, state) {
    const number = state.writes + 1;
    const slice = await rewrapSlice(store, state.cursor, (statements) =>
      writeStep(store.db, { job, number }, statements, store.now),
    );
    if (!slice.ok) return slice;
    const { rows, findings, hasWritten, next } = slice.value;
    const total = Math.max(state.total, rows);
    const writes = hasWritten ? number : state.writes;
    const progress = { done: total - rows, total };
    const isPassBegin = state.cursor.table === FIRST_SLICE.table && state.cursor.after === FIRST_SLICE.after;
    const passRows = isPassBegin ? rows : state.passRows;
    // Another pass while one helps: Workers with the ROOT_KEYS of before may have added rows behind the cursor.
    const done = isPassBegin && (rows === 0 || (state.passRows !== null && rows >= state.passRows));
    return ok({ state: { cursor: next ?? FIRST_SLICE, writes, total, passRows }, progress, findings, done });
  },
};
