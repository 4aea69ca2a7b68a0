import type { ItemSummary } from "@item-vault/client";
import { untracked, useSignal } from "@preact/signals";
import { useState, useLayoutEffect, useRef } from "preact/hooks";
import { isGone, Problem, explain } from "../failures/explain.ts";
import { labelOfCategory } from "../items/categories.ts";
import { CopyDiffers, discard, makeCopy, planTransfer, removeSource, type Transfer } from "../move/transfer.ts";
import { type Act, type AskProps, bulk, type Bulk } from "../state/bulk.ts";
import { chosenList, listsOf, nameOfList } from "../state/chosen-list.ts";
import { call } from "../state/client.ts";
import { keyOfItem, itemKey } from "../state/item-key.ts";
import { type ItemPath, pathOf } from "../state/item-writes.ts";
import * as requests from "../state/item-writes.ts";
import { dropItem, may, putItem, transferTargets, listedEntry } from "../state/items.ts";
import { type Opened, takeWritten, type Written } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { clearSelection, selectedItems, selectListed } from "../state/selection.ts";
import { session } from "../state/session.ts";
import { hideToasts, showFailure, showToast } from "../state/toasts.ts";
import { canRestore, moveBack } from "../state/undo.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { Dialog, Done } from "../ui/dialog.tsx";
import { FormDialog, InputError, textOf } from "../ui/form.tsx";
import { lazy } from "../ui/lazy.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { List } from "../ui/lists.tsx";
import { Menu } from "../ui/menu.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { explainRestore, explainRetention } from "../ui/retention.ts";
import { titleOf } from "../ui/texts.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { type Outcome, runAll } from "./run.ts";

function AskVault({ items, onBegin, onClose }: AskProps) {
  const from = new Set(items.map(({ vault }) => vault.id));
  const targets = transferTargets().filter(({ id }) => !(from.size === 1 && from.has(id)));
  const begin = async (data: FormData) => onBegin(moveTo(textOf(data, "vault")));
  return (
    <FormDialog title={`Move ${plural(items.length, "item")}`} action={begin} submit="Move" onClose={onClose}>
      <Select label="Vault" name="vault" options={targets.map(({ id, name }) => [id, name])} />
      <p class="quiet explanation">
        Earlier versions are not copied: they stay with the deleted {items.length === 1 ? "item" : "items"}, which can be restored
        in the old vault.
      </p>
    </FormDialog>
  );
}

function AskTag({ items, onBegin, onClose }: AskProps) {
  const [tags] = useState(() => untracked(() => listsOf("tag").map((list) => nameOfList(list, labelOfCategory))));
  const begin = async (data: FormData) => {
    const tag = textOf(data, "tag").trim();
    if (tag === "") throw new InputError("Enter a tag.");
    onBegin(addTag(tag));
  };
  return (
    <FormDialog title={`Tag ${plural(items.length, "item")}`} action={begin} submit="Add tag" onClose={onClose}>
      <label>
        Tag
        <input name="tag" list="bulk-tags" autocomplete="off" />
      </label>
      <datalist id="bulk-tags">
        {tags.slice(0, 500).map((tag) => (
          <option key={tag}>{tag}</option>
        ))}
      </datalist>
    </FormDialog>
  );
}

const AskDelete = ({ items, onBegin, onClose }: AskProps) => (
  <FormDialog
    title={`Delete ${plural(items.length, "item")}?`}
    action={async () => onBegin(deleteItems)}
    submit="Delete"
    danger
    onClose={onClose}
  >
    <p>{(items.length === 1 ? explainRestore : explainRetention)(session.value!.settings)}</p>
  </FormDialog>
);

const ASKS = {
  move: AskVault,
  tag: AskTag,
  delete: AskDelete,
  export: lazy(() => import("./export.tsx"), "AskExport"),
};

type Asked = keyof typeof ASKS;

function endSelection(): void {
  clearSelection();
  afterRender(focusList);
}

export function BulkBar() {
  /** The Items as they were selected: others may delete or change them later. */
  const asked = useSignal<{ readonly name: Asked; readonly items: readonly ItemSummary[] } | undefined>(undefined);
  const items = selectedItems.value;
  const ask = (name: Asked) => (asked.value = { name, items });
  const begin = (act: Act, chosen: readonly ItemSummary[] = items) => {
    asked.value = undefined;
    // After the dialog that has asked is closed, so that messages are in the next one.
    afterRender(() => (bulk.value = { act, items: chosen }));
  };
  const { name, items: chosen = [] } = asked.value ?? {};
  const Ask = name && ASKS[name];
  return (
    <>
      {items.length > 0 && <Bar items={items} ask={ask} begin={begin} />}
      {Ask && <Ask items={chosen} onBegin={(act) => begin(act, chosen)} onClose={() => (asked.value = undefined)} />}
    </>
  );
}

type BarProps = Readonly<{ items: readonly ItemSummary[]; ask: (asked: Asked) => void; begin: (act: Act) => void }>;

function Bar({ items, ask, begin }: BarProps) {
  const writable = items.every(({ vault }) => may(vault.id, "w"));
  const readable = items.every(({ vault }) => may(vault.id, "r"));
  const changeable = writable && readable;
  const favorite = !items.every((item) => item.favorite);
  const archived = chosenList.value.kind !== "archived";
  const changes = [
    { label: favorite ? "Add to favorites" : "Remove from favorites", run: () => begin(setFavorites(favorite)) },
    { label: archived ? "Archive" : "Unarchive", run: () => begin(setArchived(archived)) },
  ];
  const actions = [
    ...(changeable ? changes : []),
    ...(readable ? [{ label: "Export…", run: () => ask("export") }] : []),
    ...(writable ? [{ label: "Delete…", run: () => ask("delete") }] : []),
    { label: "Select all", run: selectListed },
  ];
  return (
    <section class="bulk" aria-label="Selected items">
      <output>{plural(items.length, "item")} selected</output>
      {changeable && transferTargets().length > 1 && <Button text="Move…" onClick={() => ask("move")} />}
      {changeable && <Button text="Tag…" onClick={() => ask("tag")} />}
      {!writable && <span class="quiet">You don’t have write access to every vault.</span>}
      <Menu label="More actions for the selected items" actions={actions} />
      <Button text="×" class="plain" label="Clear selection" title="Clear selection" onClick={endSelection} />
    </section>
  );
}

/** Actions on several Items, and their undo. */

const PATH = "/v1/vaults/{vault}/items/{item}" as const;

type Words = readonly [title: string, done: string];

/** Returns the action that gives an attribute to each Item, or takes it away. Undone only where it was another before. */
function setterOf(
  has: (item: ItemSummary) => boolean,
  write: (path: ItemPath, value: boolean) => Promise<Written>,
  given: Words,
  taken: Words,
) {
  const set = async (item: ItemSummary, value: boolean) => takeWritten(await write(pathOf(item), value));
  return (wanted: boolean): Act => {
    const [title, done] = wanted ? given : taken;
    const run: Act["run"] = async (item) => {
      if (has(item) === wanted) return undefined;
      await set(item, wanted);
      return () => set(item, !wanted);
    };
    return { title, done, run };
  };
}

const setFavorites = setterOf(
  ({ favorite }) => favorite,
  requests.setFavorite,
  ["Adding to favorites", "added to favorites"],
  ["Removing from favorites", "removed from favorites"],
);

const setArchived = setterOf(
  ({ state }) => state === "ARCHIVED",
  requests.setArchived,
  ["Archiving", "archived"],
  ["Unarchiving", "unarchived"],
);

/** Adds a tag to each Item. Undone only if nobody has written since. */
function addTag(tag: string): Act {
  /** The Idempotency-Keys: a request that is sent again, because its answer was lost, adds no second tag. */
  const keys = new Map<string, string>();
  return {
    title: "Adding the tag",
    done: "tagged",
    run: async (item) => {
      if (item.tags.includes(tag)) return undefined;
      const key = keys.get(keyOfItem(item)) ?? crypto.randomUUID();
      keys.set(keyOfItem(item), key);
      const body = [{ op: "add" as const, path: "/tags/-", value: tag }];
      const written = await call(`PATCH ${PATH}`, { path: pathOf(item), headers: { "Idempotency-Key": key }, body });
      takeWritten(written);
      const headers = { "If-Match": written.etag! };
      const before = [{ op: "replace" as const, path: "/tags", value: written.data.tags.slice(0, -1) }];
      return async () => takeWritten(await call(`PATCH ${PATH}`, { path: pathOf(item), headers, body: before }));
    },
  };
}

/** A missing Item was deleted by a request whose answer was lost, or by another client. */
const deleteItems: Act = {
  title: "Deleting",
  done: "deleted",
  run: async (item) => {
    await call(`DELETE ${PATH}`, { path: pathOf(item) }).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
    dropItem(item.vault.id, item.id);
    if (!canRestore(item.vault.id)) return undefined;
    return async () => putItem(await requests.restoreItem(pathOf(item)));
  },
};

/** Moves Items to the vault `target`. An incomplete copy is deleted; if that fails, the next try continues with it. */
function moveTo(target: string): Act {
  const transfers = new Map<string, Transfer>();
  return {
    title: "Moving",
    done: "moved",
    run: async (item, signal) => {
      if (item.vault.id === target) return undefined;
      const transfer = transfers.get(keyOfItem(item)) ?? (await planTransfer(item, target));
      transfers.set(keyOfItem(item), transfer);
      const copy = (transfer.copy ??= await copyOf(transfer, signal, () => transfers.delete(keyOfItem(item))));
      putItem(copy.item);
      const removed = await removeSource(transfer).catch((error: unknown) => {
        throw new Problem("Copied, but it may still be in its old vault.", error);
      });
      if (removed === "changed") throw new Problem("Someone changed it while it was copied: it is now in both vaults.");
      transfers.delete(keyOfItem(item));
      dropItem(item.vault.id, item.id);
      if (!canRestore(item.vault.id)) return undefined;
      const made = { vault: target, item: copy.item.id, etag: copy.etag };
      return async () => void (await moveBack(pathOf(item), made));
    },
  };
}

/** Makes the copy. An incomplete copy is deleted. `onDiscarded` is called then. */
async function copyOf(transfer: Transfer, signal: AbortSignal, onDiscarded: () => void): Promise<Opened> {
  try {
    return await makeCopy(transfer, { signal });
  } catch (error) {
    await discard(transfer).catch(() => {
      throw new Problem("An incomplete copy may remain in the other vault.", error);
    });
    onDiscarded();
    throw error instanceof CopyDiffers ? new Problem("The copy differed from the item and was deleted.") : error;
  }
}

/** Shows an act while it runs, and its report unless all are done. Loaded with the bar: the connection may be lost since. */
export function BulkDialog({ act, items }: Bulk) {
  const { outcomes, running, lacks, stop, ...steps } = useBulk({ act, items });
  const title = `${act.title}: ${plural(items.length, "item")}`;
  if (lacks.length > 0)
    return (
      <Dialog title={title} onClose={steps.onClose}>
        <p>The file is saved. It lacks:</p>
        <List class="outcomes" rows={lacks} />
        <Done onClose={steps.onClose} />
      </Dialog>
    );
  if (!running) return <Report title={title} act={act} outcomes={outcomes} {...steps} />;
  const done = countOf(outcomes, "done");
  return (
    <Dialog title={title}>
      <output class="step">{`${done.toLocaleString("en")} of ${items.length.toLocaleString("en")}`}</output>
      <progress aria-label={act.title} value={done} max={items.length} />
      <div class="buttons">
        <Button text="Stop" onClick={stop} />
      </div>
      <LeaveGuard
        changed={() => running}
        title="Stop?"
        text="The remaining items stay unchanged."
        stay="Continue"
        leave="Stop"
        onLeave={stop}
      />
    </Dialog>
  );
}

function useBulk({ act, items }: Bulk) {
  const outcomes = useSignal<readonly Outcome[]>(items.map((item) => ({ item, state: "waiting" })));
  const running = useSignal(true);
  const lacks = useSignal<readonly string[]>([]);
  const abort = useRef<AbortController>(undefined);
  const stop = () => abort.current?.abort();
  const start = () => {
    running.value = true;
    return (abort.current = new AbortController()).signal;
  };
  const run = async () => {
    const signal = start();
    const last = await runAll(outcomes.value, act.run, { signal, onChange: (changed) => (outcomes.value = changed) });
    outcomes.value = last;
    const isStopped = act.save && signal.aborted;
    if (!isStopped && last.every(({ state }) => state === "done")) await end();
    running.value = false;
  };
  /** Saves the file, or tells what is done. */
  const end = async () => {
    const signal = start();
    const done = outcomes.value.flatMap(({ item, state }) => (state === "done" ? [item] : []));
    const undo = undoOf(act, outcomes.value);
    // Another act may run when it is pressed.
    const action = undo && { label: "Undo", run: () => void (bulk.value ??= undo) };
    try {
      if (act.save) lacks.value = await act.save(done, signal);
      else if (done.length > 0) showToast(`${plural(done.length, "item")} ${act.done}`, "done", action);
      if (lacks.value.length === 0) close(items);
    } catch (error) {
      // The report then offers the file again.
      if (!signal.aborted) showFailure(error);
    }
    running.value = false;
  };
  useLayoutEffect(() => {
    hideToasts();
    void run();
    return stop;
  }, []);
  return {
    outcomes: outcomes.value,
    running: running.value,
    lacks: lacks.value,
    stop,
    onRetry: () => void run(),
    onEnd: () => void end(),
    onClose: () => close(items),
  };
}

function close(items: readonly ItemSummary[]): void {
  bulk.value = undefined;
  clearSelection();
  // The open Item may be among the deleted or moved ones.
  const { view, vault = "", item = "", page } = route.value;
  const isAmong = items.some((one) => keyOfItem(one) === itemKey(vault, item));
  const isClosed = view === "items" && page !== "new" && isAmong && !listedEntry(vault, item);
  if (isClosed) navigate({ view: "items" }, { replace: true });
  afterRender(focusList);
}

const countOf = (outcomes: readonly Outcome[], state: Outcome["state"]): number =>
  outcomes.filter((one) => one.state === state).length;

function undoOf(act: Act, outcomes: readonly Outcome[]): Bulk | undefined {
  const changed = outcomes.filter(({ undo }) => undo !== undefined);
  if (changed.length === 0) return undefined;
  const undoByKey = new Map(changed.map(({ item, undo }) => [keyOfItem(item), undo!]));
  const run: Act["run"] = async (item) => {
    await undoByKey.get(keyOfItem(item))!();
    return undefined;
  };
  return {
    act: { title: `Undoing (${act.title.toLowerCase()})`, done: "undone", run },
    items: changed.map(({ item }) => item),
  };
}

type Steps = Omit<ReturnType<typeof useBulk>, "running" | "lacks" | "stop">;

/** Reports which Items are done, and why others are not, by title. Part of a file is saved only if the person asks for it. */
function Report({ title, act, outcomes, onRetry, onEnd, onClose }: Steps & Readonly<{ title: string; act: Act }>) {
  const left = outcomes.filter(({ state }) => state !== "done");
  const failed = countOf(outcomes, "failed");
  const done = plural(outcomes.length - left.length, "item");
  return (
    <Dialog title={title} onClose={act.save ? onClose : onEnd}>
      <p role="alert">
        {done} {act.done}. {plural(failed, "failed", "failed")}, and {plural(left.length - failed, "item")} not tried.
      </p>
      <ul class="outcomes">
        {left.map(({ item, state, error }) => (
          <li key={keyOfItem(item)}>
            <strong>{titleOf(item)}</strong>{" "}
            {state === "failed" ? <span>{explain(error)}</span> : <span class="quiet">not tried</span>}
          </li>
        ))}
      </ul>
      <div class="buttons">
        {act.save && <Button text="Discard" onClick={onClose} />}
        {(!act.save || left.length < outcomes.length) && <Button text={act.save ? `Save ${done}` : "Done"} onClick={onEnd} />}
        {left.length > 0 && <Button text={`Retry ${plural(left.length, "item")}`} class="primary" onClick={onRetry} />}
      </div>
    </Dialog>
  );
}
