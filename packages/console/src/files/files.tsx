import { useCallback, useRef, useState } from "preact/hooks";
import type { File as StoredFile } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { damagedFiles } from "../api/broken.ts";
import { may } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { Icon } from "../ui/icon.tsx";
import type { MenuAction } from "../ui/menu.tsx";
import { useDrop } from "../ui/drop.ts";
import { formatSize } from "../ui/size.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { DamagedFileRow, FileRow } from "./file-row.tsx";
import { PreviewDialog } from "./preview.tsx";
import { UploadRow } from "./upload-row.tsx";
import { addUploads, uploads } from "./uploads.ts";
import { afterRender } from "../ui/after-render.ts";

/** The Files of an Item, and those that are being added to it. */
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
  /** The File whose content the next choice of a file replaces. */
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
