import { ok } from "../model/result.ts";
import { type DeletedVault, deleteSlice, listDeletedVaults } from "../store/commit/deleted-vaults.ts";
import type { KindOfJob } from "./kind.ts";
import { FIRST_VAULTS, serveVaults, skipVault, type VaultsState } from "./vaults.ts";

/**
 * The job that deletes the rows of deleted vaults (contract 13.13). The coordinator of a vault starts it after the deletion, and the hourly
 * run when rows are left. It counts no writes in D1 (store/jobs/step-fence.ts): each slice looks for itself whether its vault is deleted, so
 * also a late or repeated one, or one in a database that was restored, deletes nothing else.
 */

/** The most slices of a step, each of which is one D1 call. The list of the vaults is another one. */
const STEP_SLICES_MAX = 39;

export const PURGE: KindOfJob<object, VaultsState<DeletedVault>> = {
  format: 1,
  holds: () => "purge",
  start: () => FIRST_VAULTS,
  step: ({ store: { db } }, state) =>
    serveVaults(state, {
      list: (place) => listDeletedVaults(db, place),
      async serve({ vault }) {
        const hasMore = await deleteSlice(db, vault);
        return hasMore.ok ? ok(hasMore.value ? "" : undefined) : hasMore;
      },
      callsMax: STEP_SLICES_MAX,
    }),
  skip: skipVault,
};
