import { useLayoutEffect, useState } from "preact/hooks";
import type { File as StoredFile, Item } from "@item-vault/client";
import { loadContent } from "../state/content.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Pending } from "../ui/failure.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { kindOf } from "./content-kind.ts";

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

/** A dialog that shows an image or a text. Nothing of a content is executed, and nothing of it stays when the dialog is closed. */
export function PreviewDialog({ item, file, onClose }: Readonly<{ item: Item; file: StoredFile; onClose: () => void }>) {
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
