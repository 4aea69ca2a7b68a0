import { type File as StoredFile, type Item, ItemVaultError } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { damagedFiles } from "../failures/broken.ts";
import { explain, isErrorKind } from "../failures/explain.ts";
import { PartMenu } from "../references/menu.tsx";
import { call } from "../state/client.ts";
import { loadContent } from "../state/content.ts";
import { may } from "../state/items.ts";
import { type Opened, refreshItem } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { DropHere, FileInput, useDrop } from "../ui/drop.tsx";
import { Failure, Pending } from "../ui/failure.tsx";
import { FormDialog } from "../ui/form.tsx";
import { useLoaded } from "../ui/loaded.ts";
import type { MenuAction } from "../ui/menu.tsx";
import { afterRender } from "../ui/page.tsx";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { marked, quoted } from "../ui/texts.ts";
import { kindOf } from "./content-kind.ts";
import { addUploads, removeUpload, retryUpload, type Upload, uploads } from "./uploads.ts";

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

/** `changes` are the actions of a session that may write. */
type Props = Readonly<{ item: Item; file: StoredFile; onPreview: () => void; changes: readonly MenuAction[] }>;

/** A download of this size completes before its progress could be read. */
const QUICK = 1_000_000; // bytes

function FileRow({ item, file, onPreview, changes }: Props) {
  const { name, size } = file;
  const [{ received, error }, setDownload] = useState<{ readonly received?: number; readonly error?: unknown }>({});
  const controller = useRef<AbortController>(undefined);
  const section = item.sections.find(({ id }) => id === file.section?.id)?.label;
  const download = async () => {
    const { signal } = (controller.current = new AbortController());
    let sum = 0;
    const onBytes = (count: number) => {
      sum += count;
      setDownload(size > QUICK ? { received: sum } : {});
    };
    try {
      onBytes(0);
      saveFile(name, await loadContent(item, file, { signal, onBytes }));
      setDownload({});
    } catch (failure) {
      setDownload(signal.aborted ? {} : { error: failure });
    }
  };
  const onDownload = () => void download();
  return (
    <li>
      <div class="file">
        <span class="name">
          <bdi>{marked(name)}</bdi>
          <span class="quiet">{[formatSize(size), section].filter(Boolean).join(" · ")}</span>
        </span>
        <Button icon="eye" label={`Preview ${name}`} title="Preview" onClick={onPreview} />
        <Button icon="download" label={`Download ${name}`} title="Download" onClick={onDownload} />
        <PartMenu target={{ file }} item={item} name={name} actions={changes} />
      </div>
      {received !== undefined && (
        <Transfer label={`Download of ${name}`} done={received} size={size} onCancel={() => controller.current?.abort()} />
      )}
      {error !== undefined && <Failure error={error} retry={onDownload} />}
    </li>
  );
}

/** `done` and `size` are bytes. */
type TransferProps = Readonly<{ label: string; done: number; size: number; onCancel: () => void }>;

const Transfer = ({ label, done, size, onCancel }: TransferProps) => (
  <div class="transfer">
    <progress aria-label={label} max={Math.max(1, size)} value={done} />
    <span class="quiet">
      {formatSize(done)} of {formatSize(size)}
    </span>
    <Button text="Cancel" label={`Cancel ${label}`} onClick={onCancel} />
  </div>
);

type Preview = { readonly image: Blob } | { readonly text: string } | { readonly none: string };

const TEXT_MAX = 256 * 1024; // bytes
const IMAGE_MAX = 20_000_000; // bytes

/** Loads a preview. Of large contents without a preview only the beginning is loaded. Throws as `loadContent` does. */
async function loadPreview(item: Item, file: StoredFile, signal: AbortSignal): Promise<Preview> {
  if (file.size === 0) return { none: "This file is empty." };
  const whole = file.size <= TEXT_MAX;
  const start = await loadContent(item, file, { signal, ...(whole ? {} : { first: TEXT_MAX }) });
  const kind = kindOf(new Uint8Array(await start.arrayBuffer()), whole);
  if (!kind) return { none: "No preview available for this kind of file." };
  if ("text" in kind) return whole ? kind : { none: "This text is larger than 256 KB. Download it to read it." };
  if (file.size > IMAGE_MAX) return { none: "This image is larger than 20 MB. Download it to view it." };
  const image = whole ? start : await loadContent(item, file, { signal });
  return { image: image.slice(0, image.size, kind.image) };
}

/** A dialog that shows an image or a text. No content is executed, and nothing of it remains when the dialog is closed. */
function PreviewDialog({ item, file, onClose }: Readonly<{ item: Item; file: StoredFile; onClose: () => void }>) {
  const { data: preview, error, retry } = useLoaded((signal) => loadPreview(item, file, signal));
  return (
    <Dialog title={file.name} onClose={onClose}>
      <div class="preview">
        {preview ? <Shown preview={preview} name={file.name} /> : <Pending error={error} retry={retry} />}
      </div>
    </Dialog>
  );
}

function Shown({ preview, name }: { readonly preview: Preview; readonly name: string }) {
  if ("image" in preview) return <Image image={preview.image} name={name} />;
  if ("none" in preview) return <p>{preview.none}</p>;
  return (
    // Scrollable, so the keyboard has to reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} dir="auto" aria-label={`Content of ${name}`}>
      {preview.text}
    </pre>
  );
}

function Image({ image, name }: { readonly image: Blob; readonly name: string }) {
  const [url, setUrl] = useState<string>();
  const [broken, setBroken] = useState(false);
  useLayoutEffect(() => {
    const made = URL.createObjectURL(image);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  if (broken) return <p>Your browser can’t show this image: it is damaged or of an unknown kind.</p>;
  return url === undefined ? null : <img src={url} alt={name} onError={() => setBroken(true)} />;
}
