import { map } from "../model/result.ts";
import { type DeletedVault, deleteSlice, listDeletedVaults } from "../store/commit/deleted-vaults.ts";
import type { KindOfJob } from "./kind.ts";
import { FIRST_VAULTS, serveVaults, skipVault, type VaultsState } from "./vaults.ts";

/**
 * The job that deletes the rows of deleted vaults (contract 13.13). The coordinator of a vault starts it after the deletion, and the hourly
 * run if rows are left. It counts no writes in D1 (store/jobs/step-fence.ts), because each slice checks itself that its vault is deleted. A
 * late or repeated slice, or a slice in a restored database, therefore deletes nothing else.
 */

export const PURGE: KindOfJob<object, VaultsState<DeletedVault>> = {
  format: 1,
  holds: () => "purge",
  start: () => FIRST_VAULTS,
  step: ({ store: { db }, callsMax }, state) =>
    serveVaults(state, {
      list: (place) => listDeletedVaults(db, place),
      async serve({ vault }) {
        return map(await deleteSlice(db, vault), (hasMore) => (hasMore ? "" : undefined));
      },
      callsMax,
    }),
  skip: skipVault,
};
