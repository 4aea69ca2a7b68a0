import { useSignal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import { call } from "../api/client.ts";
import { isErrorKind } from "../api/error-kind.ts";
import { titleOf } from "../items/categories.ts";
import { showToast } from "../state/toasts.ts";
import { Confirm } from "../ui/confirm.tsx";

interface Props {
  readonly item: Item;
  readonly version: number;
  readonly onDestroyed: () => void;
}

/** The button that destroys a version, after a second step. */
export function DestroyVersion({ item, version, onDestroyed }: Props) {
  const asking = useSignal(false);
  const destroy = async () => {
    const path = { vault: item.vault.id, item: item.id, version };
    // A version that is gone was destroyed: by a request whose answer was lost, or by somebody else.
    await call("DELETE /v1/vaults/{vault}/items/{item}/versions/{version}", { path }).catch((error: unknown) => {
      if (!isErrorKind(error, "version_not_found")) throw error;
    });
    asking.value = false;
    showToast(`Version ${version} destroyed`);
    onDestroyed();
  };
  return (
    <>
      <button type="button" onClick={() => (asking.value = true)}>
        Destroy version…
      </button>
      {asking.value && (
        <Confirm
          title={`Destroy version ${version}?`}
          action={`Destroy version ${version}`}
          onConfirm={destroy}
          onClose={() => (asking.value = false)}
        >
          <p>
            Version {version} of <b>{titleOf(item)}</b> will be permanently deleted, with values and files that no other version
            has. The item itself does not change.
          </p>
        </Confirm>
      )}
    </>
  );
}
