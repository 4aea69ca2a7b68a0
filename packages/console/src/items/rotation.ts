import type { Field, Item } from "@item-vault/client";
import { may } from "../state/items.ts";
import { openedOf } from "../state/opened.ts";
import { rotated, rotating } from "../state/rotated.ts";
import type { MenuAction } from "../ui/menu.tsx";
import { isGeneratable } from "./field-types.ts";
import { write } from "./write.ts";

/** Out: the entry of a field's menu that gives it a new value; none for what people do not generate, and for a session that may not write. */
export function rotationOf(field: Field, item: Item): readonly MenuAction[] {
  const opened = openedOf(item);
  // A value of several lines is a key or a document that something else has made.
  if (!opened || !isGeneratable(field) || /[\r\n]/.test(field.value) || !may(item.vault.id, "w")) return [];
  const run = () =>
    void write(rotating, async (writes) => {
      // Before the write: without its dialog nobody would see the values.
      await import("../edit/rotated-dialog.tsx");
      rotated.value = await writes.rotate(opened, field);
    });
  return [{ label: "Rotate", run }];
}
