import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { showToast } from "../state/toasts.ts";

/**
 * Lets files be dropped onto an element. Returns true while files are held over it. Files dropped elsewhere are ignored, because the browser
 * would open them in place of the console.
 */
export function useDrop(zone: () => Element | null | undefined, onFiles: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  useLayoutEffect(() => {
    const isInside = ({ target }: DragEvent): boolean =>
      zone()?.contains(target as Node) === true && !document.querySelector("dialog[open]");
    const onDragOver = (event: DragEvent) => {
      const { dataTransfer } = event;
      if (!dataTransfer?.types.includes("Files")) return;
      // The page may have several such elements.
      if (isInside(event)) dataTransfer.dropEffect = "copy";
      else if (!event.defaultPrevented) dataTransfer.dropEffect = "none";
      event.preventDefault();
      setOver(isInside(event));
    };
    // Without a related target the pointer has left the window.
    const onDragLeave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      if (isInside(event)) onFiles(filesOf(event.dataTransfer));
    };
    addEventListener("dragover", onDragOver);
    addEventListener("dragleave", onDragLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onDragOver);
      removeEventListener("dragleave", onDragLeave);
      removeEventListener("drop", onDrop);
    };
  }, [onFiles]);
  return over;
}

/** The files that were dropped. A folder has no content. */
function filesOf({ items }: DataTransfer): File[] {
  const all = [...items].filter(({ kind }) => kind === "file");
  const files = all.filter((item) => !item.webkitGetAsEntry()?.isDirectory);
  if (files.length < all.length) showToast("Folders cannot be added. Add their files.", "failed");
  return files.flatMap((item) => item.getAsFile() ?? []);
}

/** The hint that covers an element while files are held over it. */
export const DropHere = ({ text }: { readonly text: string }) => (
  <p class="drop-here">
    <span>{text}</span>
  </p>
);

interface InputProps {
  /** Its click opens the browser's dialog that chooses files. */
  readonly input: RefObject<HTMLInputElement | null>;
  readonly onFiles: (files: readonly File[]) => void;
  readonly label: string;
  readonly accept?: string;
}

export const FileInput = ({ input, onFiles, label, accept }: InputProps) => (
  <input
    ref={input}
    type="file"
    hidden
    aria-label={label}
    accept={accept}
    onChange={({ currentTarget }) => {
      onFiles([...currentTarget.files!]);
      currentTarget.value = ""; // The same files can be chosen again.
    }}
  />
);
