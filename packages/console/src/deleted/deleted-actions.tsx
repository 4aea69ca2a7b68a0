import { useSignal } from "@preact/signals";
import type { DeletedItem } from "@item-vault/client";
import { call } from "../api/client.ts";
import { isGone } from "../api/error-kind.ts";
import { explain } from "../api/explain.ts";
import { type ItemPath, restoreItem } from "../api/item-writes.ts";
import { titleOf } from "../items/categories.ts";
import { summaryOf } from "../state/summary.ts";
import { may, putItem } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { showToast } from "../state/toasts.ts";
import { Confirm } from "../ui/confirm.tsx";
import { dropDeleted } from "./state.ts";

/** What can be done with a deleted Item: restoring it, or destroying it after a second step. */
export function DeletedActions({ item }: { readonly item: DeletedItem }) {
  const busy = useSignal(false);
  const asking = useSignal(false);
  const path = { vault: item.vault.id, item: item.id };
  const restore = async () => {
    busy.value = true;
    try {
      const data = await restoreItem(path);
      dropDeleted(item.id);
      putItem(summaryOf(data));
      showToast("Restored");
      // After a slow request the user may be elsewhere.
      if (route.value.item === item.id) navigate({ view: "items", ...path });
    } catch (error) {
      showToast(explain(error), "failed");
    }
    busy.value = false;
  };
  const destroy = async () => {
    await destroyItem(path);
    asking.value = false;
    dropDeleted(item.id);
    navigate({ view: "deleted" }, { replace: true });
    showToast("Permanently deleted");
  };
  return (
    <div class="actions">
      <button type="button" class="primary" disabled={busy.value} onClick={() => void restore()}>
        Restore
      </button>
      {may(item.vault.id, "d") && (
        <button type="button" onClick={() => (asking.value = true)}>
          Delete permanently…
        </button>
      )}
      {asking.value && (
        <Confirm
          title="Delete permanently?"
          action="Delete permanently"
          onConfirm={destroy}
          onClose={() => (asking.value = false)}
        >
          <p>
            <b>{titleOf(item)}</b>, its versions {item.files.length > 0 && "and files "}will be permanently deleted.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** An Item that is not among the deleted ones is destroyed, unless somebody has restored it. */
async function destroyItem(path: ItemPath): Promise<void> {
  try {
    await call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path });
  } catch (error) {
    if (!isGone(error)) throw error;
    const restored = await call("GET /v1/vaults/{vault}/items/{item}", { path }).catch((failure: unknown) => {
      if (!isGone(failure)) throw failure;
    });
    if (restored) throw error;
  }
}
