import { loadReferences, referenceActions } from "../references/actions.ts";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import { type FieldProps, labelOf } from "./field-types.ts";

/** Further actions of a field. */
export function FieldMenu({ field, item, actions = [] }: FieldProps & { readonly actions?: readonly MenuAction[] }) {
  const all = [...referenceActions({ field }, item), ...actions];
  if (all.length === 0) return null;
  return <Menu label={`More actions for ${labelOf(field)}`} actions={all} onOpen={() => void loadReferences()} />;
}
