import { useSignal } from "@preact/signals";
import { may, vaults } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { lazy } from "../ui/lazy.tsx";

const MoveDialog = lazy(() => import("./move-dialog.tsx").then((module) => module.MoveDialog));

/** The button that opens the dialog in which an Item is moved or copied. */
export function MoveAction({ opened: { item } }: { readonly opened: Opened }) {
  const asking = useSignal(false);
  if (!vaults.value.some(({ id }) => may(id, "r") && may(id, "w"))) return null;
  return (
    <>
      <button type="button" onClick={() => (asking.value = true)}>
        Move or copy…
      </button>
      {asking.value && <MoveDialog item={item} onClose={() => (asking.value = false)} />}
    </>
  );
}
