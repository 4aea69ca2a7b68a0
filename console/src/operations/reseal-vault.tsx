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
      <strong class="name">{vault.name}</strong> gets new keys, and all of it is sealed again under them. Its keys of before are
      then destroyed. Requests are answered meanwhile as before; Keys shows how far it is.
    </p>
  </StartJob>
);
