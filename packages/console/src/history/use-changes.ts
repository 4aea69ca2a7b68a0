import { useLayoutEffect, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import type { ListedVersion } from "../failures/broken.ts";
import { tellChanges } from "./tell-changes.ts";

/** The changes in the versions of a list, after they were requested. */

export interface Changes {
  /** The words of each version of which it is told. */
  readonly words: ReadonlyMap<number, string>;
  readonly busy: boolean;
  readonly error: unknown;
  /** True if descriptions are missing. The list's last version is described together with those behind it. */
  readonly missing: boolean;
  /** Tells of the versions of the list that are not told yet. */
  readonly show: () => void;
}

interface State {
  readonly busy: boolean;
  readonly error?: unknown;
}

/** Returns the changes of the loaded part of a list. Requests end when the component is gone. */
export function useChanges(item: Item, versions: readonly ListedVersion[], hasMore: boolean): Changes {
  /** A version never changes, so its words stay when the list is loaded again. */
  const words = useSignal<ReadonlyMap<number, string>>(new Map());
  const state = useSignal<State>({ busy: false });
  const { abort, signal } = useMemo(() => {
    const controller = new AbortController();
    return { abort: () => controller.abort(), signal: controller.signal };
  }, []);
  useLayoutEffect(() => abort, []);
  const isTold = (version: number) => words.value.has(version);
  const tell = (version: number, text: string) => void (words.value = new Map(words.value).set(version, text));
  const show = async () => {
    if (state.value.busy) return;
    state.value = { busy: true };
    try {
      await tellChanges({ item, versions, hasMore, isTold, tell, signal });
      state.value = { busy: false };
    } catch (error) {
      if (!signal.aborted) state.value = { busy: false, error };
    }
  };
  const tellable = hasMore ? versions.slice(0, -1) : versions;
  const missing = versions.length > 1 && !tellable.every(({ version }) => isTold(version));
  return { words: words.value, ...state.value, error: state.value.error, missing, show: () => void show() };
}
