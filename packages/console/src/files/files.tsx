import { useCallback, useRef, useState } from "preact/hooks";
import { type File as StoredFile, type Item, ItemVaultError } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { damagedFiles } from "../failures/broken.ts";
import { isErrorKind, explain } from "../failures/explain.ts";
import { call } from "../state/client.ts";
import { may } from "../state/items.ts";
import { type Opened, refreshItem } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { afterRender } from "../ui/page.tsx";
import { FormDialog } from "../ui/form.tsx";
import { DropHere, FileInput, useDrop } from "../ui/drop.tsx";
import { quoted, marked } from "../ui/texts.ts";
import { formatSize } from "../ui/size.ts";
import { FileRow, Transfer } from "./file-row.tsx";
import { PreviewDialog } from "./preview.tsx";
import { addUploads, removeUpload, retryUpload, type Upload, uploads } from "./uploads.ts";
import { Button } from "../ui/button.tsx";

type Named = Pick<StoredFile, "id" | "name">;

/** Moves the focus to the heading if the button that had it has gone with its File. */
const keepFocus = (): void =>
  afterRender(() => document.activeElement === document.body && document.querySelector<HTMLElement>(".files h2")?.focus());

export function Files({ opened: { item } }: { readonly opened: Opened }) {
  const [preview, setPreview] = useState<StoredFile>();
  const [deletion, setDeletion] = useState<Named>();
  const section = useRef<HTMLElement>(null);
  const target = { vault: item.vault.id, item: item.id };
  const mayWrite = may(target.vault, "w");
  const add = useCallback((files: readonly File[]) => mayWrite && addUploads(target, files), [item.id, mayWrite]);
  const over = useDrop(() => section.current?.closest("article"), add);
  const input = useRef<HTMLInputElement>(null);
  /** The File whose content is replaced by the chosen one; undefined while files are added. */
  const replaced = useRef<StoredFile>(undefined);
  const choose = (file?: StoredFile) => {
    replaced.current = file;
    input.current!.multiple = file === undefined;
    input.current!.click();
  };
  const onChoose = (files: readonly File[]) =>
    addUploads({ ...target, ...(replaced.current && { replaces: replaced.current }) }, files);
  const changesOf = (file: StoredFile) =>
    mayWrite
      ? [
          { label: "Replace content…", run: () => choose(file) },
          { label: "Delete…", run: () => setDeletion(file) },
        ]
      : [];
  const closeDeletion = () => {
    setDeletion(undefined);
    keepFocus();
  };
  const own = uploads.value.filter((upload) => upload.item === item.id && upload.vault === item.vault.id);
  const rows = [
    ...item.files.map((file) => (
      <FileRow key={file.id} item={item} file={file} changes={changesOf(file)} onPreview={() => setPreview(file)} />
    )),
    // Of a broken File (contract 9.14) only the id is known.
    ...damagedFiles(item).map((file) => (
      <li key={file.id} class="file">
        <span class="name">{file.name}</span>
        {mayWrite && <Button text="Delete" class="plain" label={`Delete ${file.name}`} onClick={() => setDeletion(file)} />}
      </li>
    )),
    ...own.map((upload) => <UploadRow key={upload.id} upload={upload} />),
  ];
  if (rows.length === 0 && !mayWrite) return null;
  return (
    <section ref={section} class="files" aria-label="Files">
      <header>
        <h2 tabIndex={-1}>Files</h2>
        {mayWrite && <Button icon="plus" text="Add files" onClick={() => choose()} />}
      </header>
      {rows.length > 0 && <ul>{rows}</ul>}
      {mayWrite && <p class="quiet drop-hint">Drop files here, up to {formatSize(LIMITS.file)} each</p>}
      <FileInput input={input} label="Files to add" onFiles={onChoose} />
      {over && mayWrite && <DropHere text="Drop to add to this item" />}
      {preview && <PreviewDialog item={item} file={preview} onClose={() => setPreview(undefined)} />}
      {deletion && <DeleteDialog item={item} file={deletion} onClose={closeDeletion} />}
    </section>
  );
}

function DeleteDialog({ item: { id, vault }, file, onClose }: Readonly<{ item: Item; file: Named; onClose: () => void }>) {
  const onConfirm = async () => {
    const path = { vault: vault.id, item: id, file: file.id };
    // A File that somebody else has deleted is deleted.
    await call("DELETE /v1/vaults/{vault}/items/{item}/files/{file}", { path }).catch((error: unknown) => {
      if (!isErrorKind(error, "file_not_found")) throw error;
    });
    await refreshItem(vault.id, id);
    showToast(`${quoted(file.name)} deleted.`);
    onClose();
  };
  return (
    <FormDialog title="Delete file" action={onConfirm} submit="Delete" danger onClose={onClose}>
      <p class="file-question">
        Delete <bdi>{marked(file.name)}</bdi>? Earlier versions of the item still have it.
      </p>
    </FormDialog>
  );
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, name, content, sent, state, error } = upload;
  const dismiss = () => {
    removeUpload(id);
    keepFocus();
  };
  if (state === "failed")
    return (
      <li>
        <div class="failure" role="alert">
          <p>
            <bdi>{marked(name)}</bdi> was not stored. {explain(error)}
            {/* The page gets the same error when the browser cannot read the file. */}
            {isErrorKind(error, "network") && " If the file was changed since you chose it, add it again."}
          </p>
          <p class="actions">
            {!(error instanceof ItemVaultError && error.status === 413) && (
              <Button text="Try again" onClick={() => retryUpload(id)} />
            )}
            <Button text="Dismiss" label={`Dismiss ${name}`} onClick={dismiss} />
          </p>
        </div>
      </li>
    );
  return (
    <li>
      <div class="file">
        <span class="name">
          <bdi>{marked(name)}</bdi>
          <span class="quiet">{state === "waiting" ? "Waiting…" : sent < content.size ? "Sending…" : "Storing…"}</span>
        </span>
      </div>
      <Transfer label={`Upload of ${name}`} done={sent} size={content.size} onCancel={dismiss} />
    </li>
  );
}
