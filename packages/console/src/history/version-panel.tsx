import { useLayoutEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { ItemVaultError } from "@item-vault/client";
import { call } from "../api/client.ts";
import { explain } from "../api/explain.ts";
import type { Difference } from "./difference.ts";
import { may } from "../state/items.ts";
import type { Opened } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { showToast } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { refreshItem, takeWritten } from "../state/written.ts";
import { Failure } from "../ui/failure.tsx";
import { DestroyVersion } from "./destroy-version.tsx";
import { DifferenceTable } from "./difference-table.tsx";
import { loadDifference } from "./load-version.ts";
import { restorePart } from "./restore-part.ts";
import { capitalized } from "../ui/texts.ts";

interface Props {
  readonly id: string;
  readonly version: number;
  readonly opened: Opened;
  readonly onDestroyed: () => void;
}

const CHANGED = "Someone else changed this item. The latest version is loaded: compare again before you restore.";

/** A version beside the current one. Its values are fetched when it is chosen, and dropped when it is closed. */
export function VersionPanel({ id, version, opened, onDestroyed }: Props) {
  const { item, etag } = opened;
  const loaded = useSignal<{ readonly rows?: Difference[]; readonly error?: unknown }>({});
  const busy = useSignal(false);
  const load = () => {
    loaded.value = {};
    void loadDifference(item, version).then(
      (rows) => (loaded.value = { rows }),
      (error: unknown) => (loaded.value = { error }),
    );
  };
  useLayoutEffect(load, [etag]);
  const restore = async (write: () => Promise<void>) => {
    busy.value = true;
    try {
      await write();
    } catch (error) {
      const isConflict = error instanceof ItemVaultError && error.status === 412;
      showToast(isConflict ? CHANGED : explain(error), "failed");
      if (isConflict)
        await refreshItem(item.vault.id, item.id).catch((failure: unknown) => showToast(explain(failure), "failed"));
    }
    busy.value = false;
  };
  const writable = may(item.vault.id, "r") && may(item.vault.id, "w");
  const { rows, error } = loaded.value;
  return (
    <div id={id} class="version-panel">
      {error !== undefined ? (
        <Failure error={error} retry={load} />
      ) : rows === undefined ? (
        <p class="quiet">Loading…</p>
      ) : (
        <DifferenceTable
          rows={rows}
          before={`Version ${version}`}
          after="Current"
          onRestore={writable ? (row) => void restore(() => restoreRow(opened, version, row)) : undefined}
        />
      )}
      <p class="actions">
        {writable && (
          <button
            type="button"
            class="primary"
            disabled={busy.value || rows === undefined}
            onClick={() => void restore(() => restoreVersion(opened, version))}
          >
            Restore version {version}
          </button>
        )}
        {may(item.vault.id, "d") && <DestroyVersion item={item} version={version} onDestroyed={onDestroyed} />}
      </p>
    </div>
  );
}

/** As restorePart. */
async function restoreRow(opened: Opened, version: number, { name, part }: Difference): Promise<void> {
  const restored = await restorePart(opened, version, part!);
  takeWritten(restored);
  showToast(`${capitalized(name)} restored from version ${version}`, "done", undoChange(restored));
}

/** Errors: throws an ItemVaultError; 412 when the Item was changed since it was loaded. */
async function restoreVersion({ item, etag }: Opened, version: number): Promise<void> {
  const path = { vault: item.vault.id, item: item.id, version };
  const restored = await call("POST /v1/vaults/{vault}/items/{item}/versions/{version}/restore", {
    path,
    headers: { "If-Match": etag },
  });
  takeWritten(restored);
  // After a slow request the user may be elsewhere.
  if (route.value.item === item.id && route.value.page === "versions")
    navigate({ view: "items", vault: item.vault.id, item: item.id });
  showToast(`Version ${version} restored`, "done", undoChange(restored));
}
