import { useSignal } from "@preact/signals";
import { type Item, ItemVaultError } from "@item-vault/client";
import { call } from "../state/client.ts";
import { isErrorKind } from "../failures/explain.ts";
import type { Difference } from "./difference.ts";
import { patchItem, pathOf, restoreVersion } from "../state/item-writes.ts";
import { may } from "../state/items.ts";
import { type Opened, refreshItem, takeWritten } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { runOnce, showToast } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { Pending } from "../ui/failure.tsx";
import { loadDifference, loadVersion } from "./load-version.ts";
import { capitalized, titleOf } from "../ui/texts.ts";
import { withPart } from "../items/comparison.ts";
import { draftOf } from "../items/draft.ts";
import { DangerButton } from "../ui/form.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { Button } from "../ui/button.tsx";
import { HiddenValue, RevealButton, SecretText, useReveal } from "../ui/reveal.tsx";

type Props = Readonly<{ id: string; version: number; opened: Opened; onDestroyed: () => void }>;

const CHANGED = "Someone else changed this item. The latest version is loaded: compare again before you restore.";

/** A version beside the current one. Its values are fetched when it is chosen, and dropped when it is closed. */
export function VersionPanel({ id, version, opened, onDestroyed }: Props) {
  const { item, etag } = opened;
  const { data: rows, error, retry } = useLoaded(() => loadDifference(item, version), [etag]);
  const busy = useSignal(false);
  /** After a conflict, the version is compared with the latest one. */
  const run = async (write: () => Promise<void>) => {
    try {
      await write();
    } catch (failure) {
      if (!(failure instanceof ItemVaultError) || failure.status !== 412) throw failure;
      showToast(CHANGED, "failed");
      await refreshItem(item.vault.id, item.id);
    }
  };
  const start = (write: () => Promise<void>) => void runOnce(busy, () => run(write));
  const writable = may(item.vault.id, "r") && may(item.vault.id, "w");
  return (
    <div id={id} class="version-panel">
      {rows ? (
        <DifferenceTable
          rows={rows}
          before={`Version ${version}`}
          after="Current"
          onRestore={writable ? (row) => start(() => restoreRow(opened, version, row)) : undefined}
        />
      ) : (
        <Pending error={error} retry={retry} />
      )}
      <p class="actions">
        {writable && (
          <Button
            text={`Restore version ${version}`}
            class="primary"
            disabled={busy.value || rows === undefined}
            onClick={() => start(() => restore(opened, version))}
          />
        )}
        {may(item.vault.id, "d") && <DestroyVersion item={item} version={version} onDestroyed={onDestroyed} />}
      </p>
    </div>
  );
}

async function restore(opened: Opened, version: number): Promise<void> {
  const restored = await restoreVersion(pathOf(opened.item), version, opened.etag);
  takeWritten(restored);
  // After a slow request the user may be elsewhere.
  if (route.value.item === opened.item.id && route.value.page === "history") navigate({ view: "items", ...pathOf(opened.item) });
  showToast(`Version ${version} restored`, "done", undoChange(restored));
}

/** Restores the attribute or field of a row, and leaves the rest of the Item as it is. */
async function restoreRow(opened: Opened, version: number, { name, part }: Difference): Promise<void> {
  const before = await loadVersion(opened.item, version);
  const { operationsOf } = await import("../edit/requests.ts");
  const now = draftOf(opened.item);
  const restored = await patchItem(opened, operationsOf(now, withPart(now, draftOf(before), part!)));
  takeWritten(restored);
  showToast(`${capitalized(name)} restored from version ${version}`, "done", undoChange(restored));
}

/** The button that destroys a version, after a second step. */
function DestroyVersion({ item, version, onDestroyed }: Omit<Props, "id" | "opened"> & { readonly item: Item }) {
  const destroy = async () => {
    const path = { ...pathOf(item), version };
    // A missing version was destroyed by a request whose answer was lost, or by another client.
    await call("DELETE /v1/vaults/{vault}/items/{item}/versions/{version}", { path }).catch((error: unknown) => {
      if (!isErrorKind(error, "version_not_found")) throw error;
    });
    showToast(`Version ${version} permanently deleted`);
    onDestroyed();
  };
  return (
    <DangerButton title={`Delete version ${version} permanently?`} action={destroy} submit="Delete permanently">
      <p>
        Version {version} of <b>{titleOf(item)}</b> will be permanently deleted, with values and files that no other version has.
        The item itself does not change.
      </p>
    </DangerButton>
  );
}

interface TableProps {
  readonly rows: readonly Difference[];
  readonly before: string;
  readonly after: string;
  /** Restores the attribute or field of a row. Absent: nothing can be restored. */
  readonly onRestore?: ((row: Difference) => void) | undefined;
}

/** The differences between two states of an Item: a row for each, with the value of each side. */
function DifferenceTable({ rows, before, after, onRestore }: TableProps) {
  if (rows.length === 0) return <p class="quiet">{before} has the same content as the current version.</p>;
  return (
    <table class="cards difference">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">What differs</span>
          </th>
          <th scope="col">{before}</th>
          <th scope="col">{after}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.key} row={row} before={before} after={after} onRestore={onRestore} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, before, after, onRestore }: Omit<TableProps, "rows"> & { readonly row: Difference }) {
  const { revealed, toggle } = useReveal(`${row.before}\n${row.after}`);
  const isContent = row.before === undefined && row.after === undefined;
  const hidden = row.concealed && !revealed;
  return (
    <tr class={row.kind}>
      <th scope="row">
        <span>{row.name}</span>
        {row.concealed && <RevealButton name={row.name} revealed={revealed} toggle={toggle} />}
        {onRestore && row.part && (
          <Button icon="back" label={`Restore ${row.name}`} title="Restore this alone" onClick={() => onRestore(row)} />
        )}
      </th>
      <td data-label={before}>
        {isContent ? "other content" : <Value text={row.before} hidden={hidden} secret={row.concealed} />}
      </td>
      <td data-label={after}>{isContent ? "this content" : <Value text={row.after} hidden={hidden} secret={row.concealed} />}</td>
    </tr>
  );
}

function Value({ text, hidden, secret }: Readonly<{ text: string | undefined; hidden: boolean; secret: boolean }>) {
  if (text === undefined) return <span class="quiet">none</span>;
  if (text === "") return <span class="quiet">empty</span>;
  if (hidden) return <HiddenValue />;
  return secret ? <SecretText value={text} /> : <span class="value">{text}</span>;
}
