import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import type { Opened } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { discard, makeCopy, planTransfer, removeSource, type Transfer } from "./transfer.ts";

/** A transfer as the dialog shows it. */

export type Kind = "copy" | "move";

export type Phase =
  | { readonly name: "choosing" }
  | { readonly name: "copying" }
  | { readonly name: "deleting" }
  /** `copied`: the copy is complete, and only the deletion of the Item is left. */
  | { readonly name: "failed"; readonly error: unknown; readonly copied: boolean }
  /** Both exist: the Item was changed while it was copied. */
  | { readonly name: "both" };

export interface Copied {
  /** Bytes downloaded and uploaded, and the most that they will be. */
  readonly bytes: number;
  readonly of: number;
  /** The name of the File that is copied now. */
  readonly file: string;
}

const DISCARDED = "The incomplete copy was deleted.";
const LEFT = "An incomplete copy may remain in the other vault.";

/** Runs a transfer. `onDone` is called when the copy is complete; `deleted` is true if the Item is deleted. */
export function useTransfer(item: Item, onDone: (copy: Opened, deleted: boolean) => void) {
  const phase = useSignal<Phase>({ name: "choosing" });
  const copied = useSignal<Copied>({ bytes: 0, of: 0, file: "" });
  const transfer = useRef<Transfer>(undefined);
  const abort = useRef<AbortController>(undefined);
  const running = useRef<Promise<void>>(undefined);

  /** Starts, or continues where it stopped, with the same choice. */
  const run = async (kind: Kind, target: string) => {
    phase.value = { name: "copying" };
    const { signal } = (abort.current = new AbortController());
    try {
      const current = (transfer.current ??= await planTransfer(item, target));
      copied.value = progressOf(current);
      current.copy ??= await makeCopy(current, {
        signal,
        onBytes: (count) => (copied.value = { ...copied.value, bytes: copied.value.bytes + count }),
        onFile: (file) => (copied.value = { ...copied.value, file }),
      });
      if (kind === "copy") return onDone(current.copy, false);
      phase.value = { name: "deleting" };
      if ((await removeSource(current)) === "deleted") onDone(current.copy, true);
      else phase.value = { name: "both" };
    } catch (error) {
      phase.value = { name: "failed", error, copied: transfer.current?.copy !== undefined };
    }
  };

  /** Stops, and deletes an incomplete copy after nothing in flight can continue it. */
  const stop = async () => {
    abort.current?.abort();
    await running.current;
    const { current } = transfer;
    if (!current?.begun || current.copy) return;
    await discard(current).then(
      (deleted) => deleted && showToast(DISCARDED),
      () => showToast(LEFT, "failed"),
    );
  };
  useLayoutEffect(() => () => void stop(), []);
  return {
    phase: phase.value,
    copied: copied.value,
    copy: () => transfer.current?.copy?.item,
    begin: (kind: Kind, target: string) => void (running.current = run(kind, target)),
  };
}

/** Files that were copied before count as a whole. */
function progressOf({ source, copied }: Transfer): Copied {
  const { files } = source.item;
  return { bytes: bytesOf(files.filter(({ id }) => copied.has(id))), of: bytesOf(files), file: "" };
}

/** Each byte is downloaded and uploaded. */
const bytesOf = (files: Item["files"]): number => 2 * files.reduce((sum, { size }) => sum + size, 0);
