import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { may } from "../state/items.ts";
import { openedOf } from "../state/opened.ts";
import { lazy } from "../ui/lazy.tsx";
import type { MenuAction } from "../ui/menu.tsx";
import { type FieldProps, isGeneratable } from "./field-types.ts";
import type { Rotated } from "./rotated.ts";
import { write } from "./write.ts";

/** Rotating a value: a new one in place of a password, and both at hand until their dialog is closed. */

const RotatedDialog = lazy(() => import("../edit/rotated-dialog.tsx").then((module) => module.RotatedDialog));

interface Rotation {
  /** The entry of the menu; none for what people do not generate, and for a session that may not write. */
  readonly actions: readonly MenuAction[];
  readonly dialog: VNode | false;
}

export function useRotation({ field, item }: FieldProps): Rotation {
  const rotated = useSignal<Rotated | undefined>(undefined);
  const waiting = useSignal(false);
  const opened = openedOf(item);
  // A value of several lines is a key or a document that something else has made.
  const offered = opened && isGeneratable(field) && !/[\r\n]/.test(field.value) && may(item.vault.id, "w");
  const run = () => void write(waiting, async (writes) => void (rotated.value = await writes.rotate(opened!, field)));
  return {
    actions: offered ? [{ label: "Rotate", run }] : [],
    dialog: rotated.value !== undefined && <RotatedDialog rotated={rotated.value} onClose={() => (rotated.value = undefined)} />,
  };
}
