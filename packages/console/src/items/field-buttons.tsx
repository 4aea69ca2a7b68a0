import type { Field, Item } from "@item-vault/client";
import { loadReferences, referenceActions } from "../references/actions.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { copyKeyOf } from "./copy-keys.ts";
import { type FieldProps, labelOf } from "./field-types.ts";

interface CopyProps {
  /** The name of the value. */
  readonly name: string;
  readonly onCopy: () => void;
  /** The field with the value, and its Item: one field has a key that copies it. */
  readonly of?: readonly [Field, Item];
}

/** Copies a value. Its key is shown while the pointer is on the row. */
export function CopyButton({ name, onCopy, of }: CopyProps) {
  const keyed = of ? copyKeyOf(...of) : { title: "Copy" };
  return (
    <button type="button" class="plain copy" aria-label={`Copy ${name}`} {...keyed} onClick={onCopy}>
      {"aria-keyshortcuts" in keyed && (
        <kbd class="hint" aria-hidden="true">
          {keyed["aria-keyshortcuts"]}
        </kbd>
      )}
      <Icon name="copy" />
    </button>
  );
}

/** Further actions of a field. */
export function FieldMenu({ field, item, actions = [] }: FieldProps & { readonly actions?: readonly MenuAction[] }) {
  const all = [...referenceActions({ field }, item), ...actions];
  if (all.length === 0) return null;
  return <Menu label={`More actions for ${labelOf(field)}`} actions={all} onOpen={() => void loadReferences()} />;
}
