import { useLayoutEffect, useState } from "preact/hooks";
import type { File as StoredFile, Item } from "@item-vault/client";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { loadPreview, type Preview } from "./load-preview.ts";

/** A dialog that shows an image or a text. Nothing of a content is executed, and nothing of it stays when the dialog is closed. */

interface Props {
  readonly item: Item;
  readonly file: StoredFile;
  readonly onClose: () => void;
}

type State = { readonly preview?: Preview; readonly error?: unknown };

export function PreviewDialog({ item, file, onClose }: Props) {
  const [{ preview, error }, setState] = useState<State>({});
  const [attempt, setAttempt] = useState(0);
  useLayoutEffect(() => {
    const controller = new AbortController();
    const set = (state: State) => !controller.signal.aborted && setState(state);
    set({});
    loadPreview(item, file, controller.signal).then(
      (loaded) => set({ preview: loaded }),
      (failure: unknown) => set({ error: failure }),
    );
    return () => controller.abort();
  }, [attempt]);
  return (
    <Dialog title={file.name} onClose={onClose}>
      <div class="preview">
        {error !== undefined ? (
          <Failure error={error} retry={() => setAttempt(attempt + 1)} />
        ) : preview ? (
          <Shown preview={preview} name={file.name} />
        ) : (
          <p class="quiet">Loading…</p>
        )}
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
