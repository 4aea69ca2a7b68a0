import { bitwardenExport } from "@item-vault/transfer/formats/bitwarden-export";
import type { TransferItem } from "@item-vault/transfer/item";
import { transferItemOf } from "@item-vault/transfer/read-service";
import type { Act, AskProps } from "../state/bulk.ts";
import { keyOfItem } from "../state/item-key.ts";
import { loadItem } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { FormDialog, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { saveFile } from "../ui/save-file.ts";

/** The export of several Items to a file that the page makes. It is always encrypted: a plain file would stay on the disk. */

/** The fewest characters of its password. Whoever has the file can try passwords as fast as their computers allow. */
const PASSWORD_MIN = 12;

export function AskExport({ items, onBegin, onClose }: AskProps) {
  const begin = async (data: FormData) => {
    const password = textOf(data, "password");
    if (password.length < PASSWORD_MIN) throw new InputError(`Use at least ${PASSWORD_MIN} characters.`);
    if (password !== textOf(data, "again")) throw new InputError("The passwords differ. Enter the same one twice.");
    onBegin(exportUnder(password));
  };
  return (
    <FormDialog title={`Export ${plural(items.length, "item")}`} action={begin} submit="Export" onClose={onClose}>
      <p>
        Saves a password-protected file that Item Vault and Bitwarden can import. Files and earlier versions are not included. The
        file is made in your browser and never uploaded; each item read is recorded in the activity log.
      </p>
      {PASSWORDS.map(([name, label]) => (
        <label key={name}>
          {label}
          <input name={name} type="password" required autocomplete="new-password" aria-describedby="export-help" />
        </label>
      ))}
      <p id="export-help" class="quiet">
        At least {PASSWORD_MIN} characters. Without it, nobody can open the file.
      </p>
    </FormDialog>
  );
}

const PASSWORDS = [
  ["password", "Password of the file"],
  ["again", "Repeat the password"],
] as const;

/** Reads the Items, and saves them as Bitwarden's password-protected JSON. The values leave the page's memory with the act. */
function exportUnder(password: string): Act {
  const read = new Map<string, TransferItem>();
  return {
    title: "Exporting",
    done: "read",
    run: async (item) => {
      read.set(keyOfItem(item), transferItemOf((await loadItem(item.vault.id, item.id)).data));
      return undefined;
    },
    save: async (items, signal) => {
      const { bytes, losses } = await bitwardenExport.write(
        items.map((item) => read.get(keyOfItem(item))!),
        { password },
      );
      signal.throwIfAborted();
      const name = `item-vault-${new Date().toISOString().slice(0, 10)}.json`;
      saveFile(name, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/json" }));
      showToast(`${plural(items.length, "item")} exported`);
      return losses.map(({ what, count }) => `${what} (${count})`);
    },
  };
}
