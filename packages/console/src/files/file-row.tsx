import { useRef, useState } from "preact/hooks";
import type { File as StoredFile, Item } from "@item-vault/client";
import { loadContent } from "../state/content.ts";
import { PartMenu } from "../references/menu.tsx";
import { Failure } from "../ui/failure.tsx";
import type { MenuAction } from "../ui/menu.tsx";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { marked } from "../ui/texts.ts";
import { Button } from "../ui/button.tsx";

interface Props {
  readonly item: Item;
  readonly file: StoredFile;
  readonly onPreview: () => void;
  /** The actions of a session that may write. */
  readonly changes: readonly MenuAction[];
}

/** A download of this size is there before its progress could be read. */
const QUICK = 1_000_000; // bytes

export function FileRow({ item, file, onPreview, changes }: Props) {
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

interface TransferProps {
  readonly label: string;
  /** Bytes. */
  readonly done: number;
  readonly size: number;
  readonly onCancel: () => void;
}

export const Transfer = ({ label, done, size, onCancel }: TransferProps) => (
  <div class="transfer">
    <progress aria-label={label} max={Math.max(1, size)} value={done} />
    <span class="quiet">
      {formatSize(done)} of {formatSize(size)}
    </span>
    <Button text="Cancel" label={`Cancel ${label}`} onClick={onCancel} />
  </div>
);
