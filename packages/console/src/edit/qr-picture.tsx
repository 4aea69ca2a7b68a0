import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { explain } from "../failures/explain.ts";
import { showToast } from "../state/toasts.ts";
import { useDrop } from "../ui/drop.ts";
import { named } from "../ui/texts.ts";

interface Props {
  /** The name of the field. */
  readonly name: string;
  /** The zone where a picture can be pasted and dropped. */
  readonly zone: RefObject<HTMLElement | null>;
  /** Gets the key URI that a picture has. */
  readonly onRead: (uri: string) => void;
}

/** The button that reads the key of a one-time password from a picture of its QR code, and reading one that is pasted or dropped. */
export function QrPicture({ name, zone, onRead }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const { read, reading } = useReading(name, onRead);
  const over = useDrop(() => zone.current, read);
  usePaste(zone, read);
  return (
    <>
      <button
        type="button"
        aria-label={`Read QR code for ${name}`}
        title="From a picture, which can also be pasted or dropped here"
        aria-disabled={reading}
        onClick={() => input.current!.click()}
      >
        Read QR code
      </button>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label={`Picture of the QR code for ${name}`}
        onChange={() => {
          read([...input.current!.files!]);
          input.current!.value = ""; // The same picture can be chosen again.
        }}
      />
      {over && (
        <p class="drop-here">
          <span>Drop the picture of a QR code</span>
        </p>
      )}
    </>
  );
}

type Read = (pictures: readonly File[]) => void;

/** Reads the first of some pictures, one at a time. */
function useReading(name: string, onRead: Props["onRead"]): { readonly read: Read; readonly reading: boolean } {
  const reading = useSignal(false);
  /** The latest callback: the form accepts input while a picture is read. */
  const latest = useRef(onRead);
  useLayoutEffect(() => void (latest.current = onRead));
  /** True if the field is still in the form. */
  const isThere = useRef(true);
  useLayoutEffect(() => () => void (isThere.current = false), []);
  const read = useCallback(async ([picture]: readonly File[]) => {
    if (!picture || reading.value) return;
    reading.value = true;
    try {
      const { readKeyUri } = await import("../qr-codes/read-image.ts");
      const uri = await readKeyUri(picture);
      if (!isThere.current) return;
      latest.current(uri);
      showToast(`QR code read into ${named(name)}`);
    } catch (error) {
      showToast(explain(error), "failed");
    }
    reading.value = false;
  }, []);
  return { read: useCallback((pictures) => void read(pictures), []), reading: reading.value };
}

/** Reads pictures that are pasted in an element. A text is pasted as usual. */
function usePaste(zone: Props["zone"], read: Read): void {
  useLayoutEffect(() => {
    const element = zone.current!;
    const onPaste = (event: ClipboardEvent) => {
      const pictures = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
      // Office programs put a picture of a text beside it.
      if (pictures.length === 0 || event.clipboardData!.types.includes("text/plain")) return;
      event.preventDefault();
      read(pictures);
    };
    element.addEventListener("paste", onPaste);
    return () => element.removeEventListener("paste", onPaste);
  }, []);
}
