import { useCallback, useRef, useState } from "preact/hooks";
import { type File as StoredFile, type Item, ItemVaultError } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { damagedFiles } from "../failures/broken.ts";
import { may } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { Icon } from "../ui/icon.tsx";
import type { MenuAction } from "../ui/menu.tsx";
import { useDrop } from "../ui/drop.ts";
import { formatSize } from "../ui/size.ts";
import { DamagedFileRow, FileRow } from "./file-row.tsx";
import { PreviewDialog } from "./preview.tsx";
import { addUploads, uploads, removeUpload, retryUpload, type Upload } from "./uploads.ts";
import { afterRender } from "../ui/after-render.ts";
import { call } from "../state/client.ts";
import { isErrorKind } from "../failures/error-kind.ts";
import { refreshItem } from "../state/written.ts";
import { showToast } from "../state/toasts.ts";
import { Confirm } from "../ui/confirm.tsx";
import { quoted } from "../ui/file-names.ts";
import { marked } from "../ui/texts.ts";
import { explain } from "../failures/explain.ts";
import { Transfer } from "./transfer.tsx";

/** The Files of an Item, and its uploads. */
export function Files({ opened: { item } }: { readonly opened: Opened }) {
  const [preview, setPreview] = useState<StoredFile>();
  const [deletion, setDeletion] = useState<Pick<StoredFile, "id" | "name">>();
  const section = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const target = { vault: item.vault.id, item: item.id };
  const mayWrite = may(target.vault, "w") && item.state !== "DELETED";
  const add = useCallback((files: readonly File[]) => mayWrite && addUploads(target, files), [item.id, mayWrite]);
  const over = useDrop(() => section.current?.closest("article"), add);
  const { input, choose, onChoose } = useChoice(target);
  const changesOf = (file: StoredFile): MenuAction[] =>
    mayWrite
      ? [
          { label: "Replace content…", run: () => choose(file) },
          { label: "Delete…", run: () => setDeletion(file) },
        ]
      : [];
  const closeDeletion = () => {
    setDeletion(undefined);
    // The button that had the focus has gone with its File.
    afterRender(() => document.activeElement === document.body && heading.current?.focus());
  };

  const damaged = damagedFiles(item);
  const own = uploads.value.filter((upload) => upload.item === item.id && upload.vault === item.vault.id);
  const rows = item.files.length + damaged.length + own.length;
  if (rows === 0 && !mayWrite) return null;
  return (
    <section ref={section} class="files" aria-label="Files">
      <header>
        <h2 ref={heading} tabIndex={-1}>
          Files
        </h2>
        {mayWrite && <AddButton onClick={() => choose()} />}
      </header>
      {rows > 0 && (
        <ul>
          {item.files.map((file) => (
            <FileRow key={file.id} item={item} file={file} changes={changesOf(file)} onPreview={() => setPreview(file)} />
          ))}
          {damaged.map((file) => (
            <DamagedFileRow key={file.id} name={file.name} onDelete={mayWrite ? () => setDeletion(file) : undefined} />
          ))}
          {own.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ul>
      )}
      {mayWrite && <Hint />}
      <input ref={input} type="file" hidden aria-label="Files to add" onChange={onChoose} />
      {over && mayWrite && <DropHere />}
      {preview && <PreviewDialog item={item} file={preview} onClose={() => setPreview(undefined)} />}
      {deletion && <DeleteDialog item={item} file={deletion} onClose={closeDeletion} />}
    </section>
  );
}

const AddButton = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="button" onClick={onClick}>
    <Icon name="plus" />
    Add files
  </button>
);

const DropHere = () => (
  <p class="drop-here">
    <span>Drop to add to this item</span>
  </p>
);

const Hint = () => <p class="quiet drop-hint">Drop files here, up to {formatSize(LIMITS.file)} each</p>;

/** The browser's dialog that chooses files to add, or one that replaces the content of a File. */
function useChoice(target: { readonly vault: string; readonly item: string }) {
  const input = useRef<HTMLInputElement>(null);
  /** The File whose content the next chosen file replaces. */
  const replaced = useRef<StoredFile | undefined>(undefined);
  const choose = (file?: StoredFile) => {
    replaced.current = file;
    input.current!.multiple = file === undefined;
    input.current!.click();
  };
  const onChoose = () => {
    const { current } = replaced;
    addUploads({ ...target, ...(current && { replaces: current }) }, [...input.current!.files!]);
    input.current!.value = ""; // The same file can be chosen again.
  };
  return { input, choose, onChoose };
}

interface Props {
  readonly item: Item;
  readonly file: Pick<StoredFile, "id" | "name">;
  readonly onClose: () => void;
}

/** Asks whether a File is to be deleted, and deletes it. */
function DeleteDialog({ item, file, onClose }: Props) {
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

/** An upload that waits, is being sent or has failed. */
function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, name, size, sent, state, error } = upload;
  if (state === "failed")
    return (
      <li>
        <div class="failure" role="alert">
          <p>
            <bdi>{marked(name)}</bdi> was not stored. {explain(error)}
          </p>
          <p class="actions">
            {canRepeat(error) && (
              <button type="button" onClick={() => retryUpload(id)}>
                Try again
              </button>
            )}
            <button type="button" aria-label={`Dismiss ${name}`} onClick={() => dismiss(id)}>
              Dismiss
            </button>
          </p>
        </div>
      </li>
    );
  return (
    <li>
      <div class="file">
        <span class="name">
          <bdi>{marked(name)}</bdi>
          <span class="quiet">{state === "waiting" ? "Waiting…" : sent < size ? "Sending…" : "Storing…"}</span>
        </span>
      </div>
      <Transfer label={`Upload of ${name}`} done={sent} size={size} onCancel={() => dismiss(id)} />
    </li>
  );
}

function dismiss(id: number): void {
  removeUpload(id);
  afterRender(() => document.activeElement === document.body && document.querySelector<HTMLElement>(".files h2")?.focus());
}

const FINAL: ReadonlySet<string> = new Set(["file_too_large", "file_changed"]);
const canRepeat = (error: unknown): boolean => !(error instanceof ItemVaultError && FINAL.has(error.kind));
