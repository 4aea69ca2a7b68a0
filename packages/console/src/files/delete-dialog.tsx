import type { File as StoredFile, Item } from "@item-vault/client";
import { call } from "../api/client.ts";
import { isErrorKind } from "../api/error-kind.ts";
import { refreshItem } from "../state/written.ts";
import { showToast } from "../state/toasts.ts";
import { Confirm } from "../ui/confirm.tsx";
import { quoted } from "../ui/file-names.ts";
import { marked } from "../ui/texts.ts";

interface Props {
  readonly item: Item;
  readonly file: Pick<StoredFile, "id" | "name">;
  readonly onClose: () => void;
}

/** Asks whether a File is to be deleted, and deletes it. */
export function DeleteDialog({ item, file, onClose }: Props) {
  const onConfirm = async () => {
    await deleteFile(item, file);
    showToast(`${quoted(file.name)} deleted.`);
    onClose();
  };
  return (
    <Confirm title="Delete file" action="Delete" onConfirm={onConfirm} onClose={onClose}>
      <p class="file-question">
        Delete <bdi>{marked(file.name)}</bdi>? Earlier versions of the item still have it.
      </p>
    </Confirm>
  );
}

/** A File that somebody else has deleted is deleted. */
async function deleteFile({ id, vault }: Item, file: Props["file"]): Promise<void> {
  const path = { vault: vault.id, item: id, file: file.id };
  await call("DELETE /v1/vaults/{vault}/items/{item}/files/{file}", { path }).catch((error: unknown) => {
    if (!isErrorKind(error, "file_not_found")) throw error;
  });
  await refreshItem(vault.id, id);
}
