import type { AdminVault } from "@item-vault/client";
import { StartJob } from "./start-job.tsx";

/** Gives a vault new keys. In: a vault whose record opens, so it has keys. */
export const ResealVault = ({ vault, onClose }: { readonly vault: AdminVault; readonly onClose: () => void }) => (
  <StartJob
    title="New keys for a vault"
    submit="Start"
    jobOf={() => ({ kind: "reseal", vault: vault.id, dataKey: vault.dataKey!.id })}
    onClose={onClose}
  >
    <p>
      <strong class="name">{vault.name}</strong> gets new keys and everything in it is re-encrypted. The old keys are then
      destroyed. The vault stays available; see progress under Keys.
    </p>
  </StartJob>
);
