import { useRef, useState } from "preact/hooks";
import type { File as StoredFile, Item } from "@item-vault/client";
import { loadContent } from "../state/content.ts";
import { explain } from "../failures/explain.ts";
import { loadReferences, referenceActions } from "../references/actions.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { Transfer } from "./transfer.tsx";
import { marked } from "../ui/texts.ts";

interface Props {
  readonly item: Item;
  readonly file: StoredFile;
  readonly onPreview: () => void;
  /** The actions of a session that may write. */
  readonly changes: readonly MenuAction[];
}

/** A download of this size is there before its progress could be read. */
const QUICK = 1_000_000; // bytes

type Download =
  | { readonly state: "none" }
  | { readonly state: "running"; readonly received: number }
  | { readonly state: "failed"; readonly error: unknown };

const NONE: Download = { state: "none" };

/** One File: its name, size and section, and its actions. */
export function FileRow({ item, file, onPreview, changes }: Props) {
  const { name, size } = file;
  const [download, setDownload] = useState<Download>(NONE);
  const controller = useRef<AbortController | undefined>(undefined);
  const section = item.sections.find(({ id }) => id === file.section?.id)?.label;
  const start = async () => {
    const { signal } = (controller.current = new AbortController());
    try {
      if (size > QUICK) setDownload({ state: "running", received: 0 });
      let received = 0;
      const onBytes = (count: number) => {
        received += count;
        if (size > QUICK) setDownload({ state: "running", received });
      };
      saveFile(name, await loadContent(item, file, { signal, onBytes }));
      setDownload(NONE);
    } catch (error) {
      setDownload(signal.aborted ? NONE : { state: "failed", error });
    }
  };
  return (
    <li>
      <div class="file">
        <span class="name">
          <bdi>{marked(name)}</bdi>
          <span class="quiet">{[formatSize(size), section].filter(Boolean).join(" · ")}</span>
        </span>
        <button type="button" class="plain" aria-label={`Preview ${name}`} title="Preview" onClick={onPreview}>
          <Icon name="eye" />
        </button>
        <button type="button" class="plain" aria-label={`Download ${name}`} title="Download" onClick={() => void start()}>
          <Icon name="download" />
        </button>
        <Menu
          label={`More actions for ${name}`}
          actions={[...referenceActions({ file }, item), ...changes]}
          onOpen={() => void loadReferences()}
        />
      </div>
      {download.state === "running" && (
        <Transfer
          label={`Download of ${name}`}
          done={download.received}
          size={size}
          onCancel={() => controller.current?.abort()}
        />
      )}
      {download.state === "failed" && (
        <div class="failure" role="alert">
          <p>{explain(download.error)}</p>
          <button type="button" onClick={() => void start()}>
            Try again
          </button>
        </div>
      )}
    </li>
  );
}

/** A broken File (contract 9.14): only its id is known. `onDelete` is absent for a session that may not write. */
export const DamagedFileRow = ({ name, onDelete }: { readonly name: string; readonly onDelete: (() => void) | undefined }) => (
  <li>
    <div class="file">
      <span class="name">{name}</span>
      {onDelete && (
        <button type="button" class="plain" aria-label={`Delete ${name}`} onClick={onDelete}>
          Delete
        </button>
      )}
    </div>
  </li>
);
