import type { Item } from "@item-vault/client";
import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { explain } from "../failures/explain.ts";
import { dropItem, may, putItem, transferTargets, vaultName } from "../state/items.ts";
import { isOpen } from "../state/opened.ts";
import { navigate } from "../state/route.ts";
import { showToast, showWritten } from "../state/toasts.ts";
import { undoMove } from "../state/undo.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Alert } from "../ui/failure.tsx";
import { focusOn } from "../ui/page.tsx";
import { isolate } from "../ui/texts.ts";
import { discard, makeCopy, planTransfer, removeSource, type Transfer } from "./transfer.ts";

type Kind = "copy" | "move";

type Phase =
  | { readonly name: "choosing" | "deleting" }
  /** The File that is copied now, and the number of those before it. */
  | { readonly name: "copying"; readonly file?: string; readonly done?: number }
  /** Without `retry`, both exist: the Item was changed while it was copied. */
  | { readonly name: "stopped"; readonly why: string; readonly retry?: () => void };

/** The dialog in which an Item is moved to another vault, or copied to any. */
export function MoveDialog({ item, onClose }: { readonly item: Item; readonly onClose: () => void }) {
  const from = item.vault.id;
  const targets = transferTargets();
  const target = useSignal((targets.find(({ id }) => id !== from) ?? targets[0])?.id ?? "");
  const show = (copy: Item) => {
    putItem(copy);
    onClose();
    // The person may have navigated since.
    if (isOpen(from, item.id)) navigate({ view: "items", vault: copy.vault.id, item: copy.id });
  };
  const { phase, transfer, start } = useTransfer(item, ({ item: copy, etag }, deleted) => {
    if (deleted) dropItem(from, item.id);
    const made = { vault: copy.vault.id, item: copy.id, etag };
    showWritten(deleted ? "Moved" : "Copied", copy, deleted ? undoMove({ vault: from, item: item.id }, made) : undefined);
    show(copy);
  });
  const copy = transfer()?.copy?.item;
  const close = copy ? () => show(copy) : onClose;
  return (
    <Dialog title="Move or copy" {...(phase.name !== "deleting" && { onClose: close })}>
      {phase.name === "choosing" ? (
        <ChooseVault
          from={from}
          targets={targets}
          target={target}
          onStart={(kind) => start(kind, target.value)}
          onCancel={onClose}
        />
      ) : phase.name === "stopped" ? (
        <>
          <Alert>{phase.why}</Alert>
          <div class="buttons">
            <Button
              text={copy ? "Keep both" : "Cancel"}
              class={phase.retry ? undefined : "primary"}
              ref={phase.retry ? null : focusOn}
              onClick={close}
            />
            {phase.retry && <Button text="Try again" class="primary" ref={focusOn} onClick={phase.retry} />}
          </div>
        </>
      ) : (
        <Running phase={phase} item={item} onCancel={onClose} />
      )}
    </Dialog>
  );
}

/** Runs a transfer. `onDone` is called when the copy is complete; `deleted` is true if the Item is deleted. */
function useTransfer(item: Item, onDone: (copy: NonNullable<Transfer["copy"]>, deleted: boolean) => void) {
  const phase = useSignal<Phase>({ name: "choosing" });
  const transfer = useRef<Transfer>(undefined);
  const abort = useRef<AbortController>(undefined);
  const running = useRef<Promise<void>>(undefined);
  /** Starts, or continues where it stopped, with the same choice. */
  const run = async (kind: Kind, target: string) => {
    phase.value = { name: "copying" };
    const { signal } = (abort.current = new AbortController());
    const [here, there] = [item.vault.id, target].map(vaultName);
    try {
      const current = (transfer.current ??= await planTransfer(item, target));
      const onFile = (file: string, done: number) => (phase.value = { name: "copying", file, done });
      current.copy ??= await makeCopy(current, { signal, onFile });
      if (kind === "copy") return onDone(current.copy, false);
      phase.value = { name: "deleting" };
      if ((await removeSource(current)) === "deleted") return onDone(current.copy, true);
      const why = `Someone else changed the item while it was copied, so it was not deleted from ${here}. The copy in ${there} has the earlier content.`;
      phase.value = { name: "stopped", why };
    } catch (error) {
      const state = transfer.current?.copy
        ? `The copy in ${there} is complete, but the item may still be in ${here}.`
        : "The item was not copied and has not moved.";
      phase.value = { name: "stopped", why: `${state} ${explain(error)}`, retry: () => start(kind, target) };
    }
  };
  const start = (kind: Kind, target: string) => void (running.current = run(kind, target));
  /** Stops, and deletes an incomplete copy once nothing in flight can complete it. */
  const stop = async () => {
    abort.current?.abort();
    await running.current;
    const { current } = transfer;
    if (!current?.begun || current.copy) return;
    await discard(current).then(
      (deleted) => deleted && showToast("The incomplete copy was deleted."),
      () => showToast("An incomplete copy may remain in the other vault.", "failed"),
    );
  };
  useLayoutEffect(() => () => void stop(), []);
  return { phase: phase.value, transfer: () => transfer.current, start };
}

interface ChoiceProps {
  /** The ids of the vault of the Item, and of the chosen one. */
  readonly from: string;
  readonly target: Signal<string>;
  readonly targets: ReturnType<typeof transferTargets>;
  readonly onStart: (kind: Kind) => void;
  readonly onCancel: () => void;
}

function ChooseVault({ from, targets, target, onStart, onCancel }: ChoiceProps) {
  const kinds: readonly Kind[] = may(from, "w") && target.value !== from ? ["copy", "move"] : ["copy"];
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Select
        label="Vault"
        signal={target}
        options={targets.map(({ id, name }) => [id, id === from ? `${isolate(name)} (where it is)` : name])}
      />
      <p class="quiet explanation">
        The copy has all fields, tags, URLs and files. Earlier versions are not copied: after a move they stay with the deleted
        item, which can be restored in its old vault.
      </p>
      <div class="buttons">
        <Button text="Cancel" onClick={onCancel} />
        {kinds.map((kind) => (
          <Button
            text={kind === "copy" ? "Copy" : "Move"}
            key={kind}
            class={kind === kinds.at(-1) ? "primary" : undefined}
            onClick={() => onStart(kind)}
          />
        ))}
      </div>
    </form>
  );
}

type Progress = Exclude<Phase, { readonly name: "stopped" }>;

function Running({ phase, item, onCancel }: Readonly<{ phase: Progress; item: Item; onCancel: () => void }>) {
  const { length } = item.files;
  const { file = "", done = 0 } = phase.name === "copying" ? phase : { done: length };
  const isDeleting = phase.name === "deleting";
  const copying = file === "" ? "Copying…" : `Copying ${isolate(file)}…`;
  return (
    <>
      <output class="step">{isDeleting ? `Deleting from ${vaultName(item.vault.id)}…` : copying}</output>
      {length > 0 && <progress aria-label="Files copied" value={done} max={length} />}
      <div class="buttons">
        <Button text="Cancel" ref={focusOn} disabled={isDeleting} onClick={onCancel} />
      </div>
    </>
  );
}
