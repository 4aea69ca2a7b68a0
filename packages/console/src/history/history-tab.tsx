import type { Session, Item } from "@item-vault/client";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { titleOf } from "../ui/texts.ts";
import type { Opened } from "../state/opened.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { focusTab } from "../ui/page.tsx";
import { tellChanges } from "./tell-changes.ts";
import { type ListedVersion, asVersion } from "../failures/broken.ts";
import { WhenBy } from "../ui/who.tsx";
import { VersionPanel } from "./version-panel.tsx";
import { call } from "../state/client.ts";
import { Button } from "../ui/button.tsx";

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
      if (pages.value === waiting) pages.value = { versions, next: nextCursor(headers), loading: false };
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

/** Returns the cursor of the next page from the headers of a page; `undefined` after the last one. */
function nextCursor(headers: Headers): string | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return link === undefined ? undefined : (new URL(link, location.origin).searchParams.get("cursor") ?? undefined);
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
