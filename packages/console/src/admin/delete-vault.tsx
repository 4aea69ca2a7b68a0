import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { withoutHidden } from "../ui/texts.ts";
import { shortId } from "./filter.ts";
import type { VaultRow } from "./lists.ts";
import { refreshVaults } from "./vault-form.tsx";
import { nameOfVault } from "./vault-names.ts";

/** Deletes a vault, when its name was typed. */

interface Props {
  readonly vault: VaultRow;
  readonly onClose: () => void;
}

/** HTML shows white space as one space, and nobody sees or types hidden characters. */
const normalize = (text: string): string => withoutHidden(text).replaceAll(/\s+/g, " ").trim();

/** What has to be typed: the name, or the start of the id where there is none. */
const confirmationOf = (vault: VaultRow): string => ("broken" in vault ? "" : normalize(vault.name)) || shortId(vault.id);

export function DeleteVault({ vault, onClose }: Props) {
  const typed = useSignal("");
  const confirmation = confirmationOf(vault);
  const action = async () => {
    await call("DELETE /v1/admin/vaults/{vault}", { path: { vault: vault.id } });
    showToast("Vault deleted");
    onClose();
    await refreshVaults();
    focusTitle();
  };
  return (
    <Dialog title="Delete vault" onClose={onClose}>
      <Form action={action} submit="Delete vault" danger disabled={normalize(typed.value) !== confirmation} onCancel={onClose}>
        <p>
          This permanently deletes <strong class="name">{nameOfVault(vault)}</strong> and its {plural(vault.items, "item")},
          including versions and files. Only a backup can bring it back.
        </p>
        <label>
          Type <strong class="name">{confirmation}</strong> to confirm
          <input
            name="confirmation"
            required
            autocomplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>
      </Form>
    </Dialog>
  );
}
