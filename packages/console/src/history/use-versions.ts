import { useLayoutEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import { asVersion, type ListedVersion } from "../api/broken.ts";
import { call } from "../api/client.ts";
import { nextCursor } from "../api/next-page.ts";

/** The list of an Item's versions, page after page. It holds titles, and no values of fields. */

interface VersionList {
  readonly versions: readonly ListedVersion[];
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  /** Loads the next page, or the first again. */
  readonly load: () => void;
  /** Leaves out a version that was destroyed. */
  readonly drop: (version: number) => void;
}

interface Pages {
  readonly versions: readonly ListedVersion[];
  readonly next?: string | undefined;
  readonly loading: boolean;
  readonly error?: unknown;
}

const NONE: Pages = { versions: [], loading: true };

/** In: the Item, and its entity tag: the list begins again when the Item has changed. */
export function useVersions({ id, vault }: Item, etag: string): VersionList {
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
  const { versions, next, loading, error } = pages.value;
  return {
    versions,
    hasMore: next !== undefined,
    loading,
    error,
    load: () => void loadAfter(pages.value),
    drop: (version) => {
      pages.value = { ...pages.value, versions: pages.value.versions.filter((each) => each.version !== version) };
    },
  };
}
