import { type Item, ItemVaultError, type Session } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { asVersion, type ListedVersion } from "../failures/broken.ts";
import { isErrorKind } from "../failures/explain.ts";
import { withPart } from "../items/comparison.ts";
import { draftOf } from "../items/draft.ts";
import { call, nextPage } from "../state/client.ts";
import { patchItem, pathOf, restoreVersion } from "../state/item-writes.ts";
import { may } from "../state/items.ts";
import { type Opened, refreshItem, takeWritten } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { runOnce, showToast, showWritten } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { Button } from "../ui/button.tsx";
import { Failure, Pending } from "../ui/failure.tsx";
import { DangerButton } from "../ui/form.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { focusTab } from "../ui/page.tsx";
import { HiddenValue, RevealButton, SecretText, useReveal } from "../ui/reveal.tsx";
import { titleOf, capitalized } from "../ui/texts.ts";
import { WhenBy } from "../ui/who.tsx";
import { changeWords, UNREADABLE, wordsOfFirst } from "./change-words.ts";
import { difference, type Difference } from "./difference.ts";
import { compareContents, loadVersion, loadDifference } from "./load-version.ts";

/** The versions of an Item, newest first, each beside the current one when it is chosen. */
export function HistoryTab({ opened }: { readonly opened: Opened }) {
  const { item, etag } = opened;
  const chosen = useSignal<number | undefined>(undefined);
  const { versions, hasMore, loading, error, load, drop } = useVersions(item, etag);
  const changes = useChanges(item, versions, hasMore);
  // A button that had the focus is gone after a deletion, and after the changes are shown.
  useLayoutEffect(focusTab, [versions.length, changes.missing]);
  const earlier = versions.filter(({ version }) => version !== item.version);
  return (
    <>
      <p class="quiet">Select a version to compare. Restoring never overwrites history.</p>
      <ShowChanges {...changes} />
      <ol class="versions">
        {versions.map((version) => (
          <VersionRow
            key={version.version}
            version={version}
            words={changes.words.get(version.version)}
            opened={opened}
            chosen={chosen.value === version.version}
            onChoose={() => (chosen.value = chosen.value === version.version ? undefined : version.version)}
            onDestroyed={() => drop(version.version)}
          />
        ))}
      </ol>
      {error !== undefined && <Failure error={error} retry={load} />}
      {loading && <p class="quiet">Loading…</p>}
      {!loading && error === undefined && earlier.length === 0 && !hasMore && (
        <p class="quiet">{explainNone(session.value!.settings)}</p>
      )}
      {hasMore && !loading && error === undefined && <Button text="Show more" onClick={load} />}
    </>
  );
}

/** The button that reads the versions of the list. It is no part of opening the list, because each read is an entry of the log. */
function ShowChanges({ busy, error, missing, show }: ReturnType<typeof useChanges>) {
  if (error !== undefined) return <Failure error={error} retry={show} />;
  if (!missing) return null;
  return (
    <div class="show-changes">
      <Button text="Show what changed" aria-disabled={busy} onClick={show} />
      <output class="quiet">{busy ? "Reading the versions…" : "Reads every version; this is logged."}</output>
    </div>
  );
}

const explainNone = ({ versionsKept }: Session["settings"]): string =>
  versionsKept === 0
    ? "This service keeps no earlier versions of items."
    : "No earlier version is kept. The next change of this item keeps this one.";

interface Props {
  readonly version: ListedVersion;
  /** The changes of the version in words, if requested. */
  readonly words: string | undefined;
  readonly opened: Opened;
  readonly chosen: boolean;
  readonly onChoose: () => void;
  readonly onDestroyed: () => void;
}

/** One version of the list: its number, time and editor, its title if that differed, and its changes. */
function VersionRow({ version, words, opened, chosen, onChoose, onDestroyed }: Props) {
  const isCurrent = version.version === opened.item.version;
  const summary = (
    <>
      <strong>Version {version.version}</strong>
      {isCurrent && <span class="badge">current</span>}
      <span class="quiet">
        <WhenBy time={version.updatedAt} id={version.lastEditedBy} vault={opened.item.vault.id} item={opened.item.id} />
      </span>
      {version.title !== opened.item.title && <span class="title">{titleOf(version)}</span>}
      {words !== undefined && <span class="words">{words}</span>}
    </>
  );
  if (isCurrent) return <li class="version current">{summary}</li>;
  const panel = `version-${version.version}`;
  return (
    <li>
      <button type="button" class="version" aria-expanded={chosen} aria-controls={chosen ? panel : undefined} onClick={onChoose}>
        {summary}
      </button>
      {chosen && <VersionPanel id={panel} version={version.version} opened={opened} onDestroyed={onDestroyed} />}
    </li>
  );
}

interface Pages {
  readonly versions: readonly ListedVersion[];
  /** The cursor of the next page. */
  readonly next?: string | undefined;
  readonly loading: boolean;
  readonly error?: unknown;
}

const NONE: Pages = { versions: [], loading: true };

/**
 * Loads the versions of an Item, page after page: titles, and no values of fields. The list starts again when the Item's entity tag changes.
 * `load` loads the next page, or the first again; `drop` leaves out a destroyed version.
 */
function useVersions({ id, vault }: Item, etag: string) {
  const pages = useSignal<Pages>(NONE);
  /** An answer that arrives after the list began again is ignored. */
  const loadAfter = async (before: Pages) => {
    const waiting = { ...before, loading: true, error: undefined };
    pages.value = waiting;
    const query = before.next === undefined ? {} : { cursor: before.next, limit: 100 };
    try {
      const path = { vault: vault.id, item: id };
      const { data, headers } = await call("GET /v1/vaults/{vault}/items/{item}/versions", { path, query });
      const versions = [...before.versions, ...data.map(asVersion)];
      if (pages.value === waiting) pages.value = { versions, next: nextPage(headers, "cursor"), loading: false };
    } catch (error) {
      if (pages.value === waiting) pages.value = { ...before, loading: false, error };
    }
  };
  useLayoutEffect(() => void loadAfter(NONE), [id, etag]);
  const { next, ...shown } = pages.value;
  return {
    ...shown,
    hasMore: next !== undefined,
    load: () => void loadAfter(pages.value),
    drop: (dropped: number) => {
      pages.value = { ...pages.value, versions: pages.value.versions.filter(({ version }) => version !== dropped) };
    },
  };
}

/** Returns the changes of the listed versions in words, after `show` has requested them. Requests end when the component is gone. */
function useChanges(item: Item, versions: readonly ListedVersion[], hasMore: boolean) {
  /** A version never changes, so its words stay when the list is loaded again. */
  const words = useSignal<ReadonlyMap<number, string>>(new Map());
  const state = useSignal<{ readonly busy: boolean; readonly error?: unknown }>({ busy: false });
  const controller = useMemo(() => new AbortController(), []);
  useLayoutEffect(() => () => controller.abort(), []);
  const isTold = (version: number) => words.value.has(version);
  const tell = (version: number, text: string) => void (words.value = new Map(words.value).set(version, text));
  const show = async () => {
    if (state.value.busy) return;
    state.value = { busy: true };
    try {
      await tellChanges({ item, versions, hasMore, isTold, tell, signal: controller.signal });
      state.value = { busy: false };
    } catch (error) {
      if (!controller.signal.aborted) state.value = { busy: false, error };
    }
  };
  // The last version is described together with those behind it.
  const tellable = hasMore ? versions.slice(0, -1) : versions;
  const missing = versions.length > 1 && !tellable.every(({ version }) => isTold(version));
  const { busy, error } = state.value;
  return { words: words.value, busy, error, missing, show: () => void show() };
}

/** Describes the changes of each version in a list. Reads the versions, and keeps only the words. */

/** Number of versions that are requested at the same time. */
const PARALLEL = 4;

interface Told {
  /** The open Item, whose version need not be loaded. */
  readonly item: Item;
  /** The list, newest first, as far as it is loaded. */
  readonly versions: readonly ListedVersion[];
  /** True if the service has further versions. */
  readonly hasMore: boolean;
  readonly isTold: (version: number) => boolean;
  readonly tell: (version: number, words: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Describes each version of the list without a description. A version is compared with the next older readable one, so a damaged or destroyed
 * version affects only itself. Each read is an entry of the activity log (contract 14.18). Throws the ItemVaultError of a request, or the
 * reason of the signal; earlier descriptions stay.
 */
async function tellChanges({ item, versions, hasMore, isTold, tell, signal }: Told): Promise<void> {
  const isMissing = ({ version }: ListedVersion) => !isTold(version);
  const last = versions.findLastIndex(isMissing);
  /** The version that was read last, and is to be compared with the next. */
  let newer: Item | undefined;
  for (let next = versions.findIndex(isMissing); next >= 0 && next < versions.length;) {
    // After the last version, until there is an older one to compare it with.
    const count = next > last ? 1 : Math.min(PARALLEL, last + 2 - next);
    const batch = versions.slice(next, next + count);
    for (const [index, older] of (await Promise.all(batch.map((one) => read(item, one, signal)))).entries()) {
      const { version } = batch[index]!;
      if (typeof older === "string") {
        tell(version, older);
        continue;
      }
      if (newer && !isTold(newer.version)) tell(newer.version, await compare(older, newer, signal));
      newer = older;
    }
    next += count;
    if (next > last + 1 && newer && isTold(newer.version)) return;
  }
  if (newer && !isTold(newer.version) && !hasMore) tell(newer.version, wordsOfFirst(newer.version));
}

/** Returns the earlier version, or the reason why it is unreadable. Throws an ItemVaultError that is not the version's fault. */
async function read(item: Item, { version, damaged }: ListedVersion, signal: AbortSignal): Promise<Item | string> {
  if (damaged) return UNREADABLE["integrity"]!;
  if (version === item.version) return item;
  try {
    return await loadVersion(item, version, signal);
  } catch (error) {
    const words = error instanceof ItemVaultError ? UNREADABLE[error.kind] : undefined;
    if (words === undefined) throw error;
    return words;
  }
}

/**
 * Compares two versions. Comparing the contents of a File costs two more requests, so contents are compared only where they may have changed.
 * A write replaces only a content (contract 9.7), and the restore of a version with other contents shows by its other changes.
 */
async function compare(before: Item, after: Item, signal: AbortSignal): Promise<string> {
  const rows = difference(before, after);
  const skipped = rows.length > 0 && before.version === after.version - 1;
  return changeWords(before, after, skipped ? rows : [...rows, ...(await compareContents(before, after, signal))]);
}

type PanelProps = Readonly<{ id: string; version: number; opened: Opened; onDestroyed: () => void }>;

const CHANGED = "Someone else changed this item. The latest version is loaded: compare again before you restore.";

/** A version beside the current one. Its values are fetched when it is chosen, and dropped when it is closed. */
function VersionPanel({ id, version, opened, onDestroyed }: PanelProps) {
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
  showWritten(`Version ${version} restored`, restored.data, undoChange(restored));
}

/** Restores the attribute or field of a row, and leaves the rest of the Item as it is. */
async function restoreRow(opened: Opened, version: number, { name, part }: Difference): Promise<void> {
  const before = await loadVersion(opened.item, version);
  const { operationsOf } = await import("../edit/requests.ts");
  const now = draftOf(opened.item);
  const restored = await patchItem(opened, operationsOf(now, withPart(now, draftOf(before), part!)));
  takeWritten(restored);
  showWritten(`${capitalized(name)} restored from version ${version}`, restored.data, undoChange(restored));
}

/** The button that destroys a version, after a second step. */
function DestroyVersion({ item, version, onDestroyed }: Omit<PanelProps, "id" | "opened"> & { readonly item: Item }) {
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
          <Button text="Restore" label={`Restore ${row.name}`} title="Restore this alone" onClick={() => onRestore(row)} />
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
