import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ItemSummary } from "@item-vault/client";
import { explain } from "../failures/explain.ts";
import { type Act, type Bulk, bulk } from "../state/bulk.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { listedEntry } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { clearSelection } from "../state/selection.ts";
import { hideToasts, showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, Done } from "../ui/dialog.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { List } from "../ui/lists.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { titleOf } from "../ui/texts.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { type Outcome, runAll } from "./run.ts";

/** Shows an act on several Items while it runs, and its report unless all are done. */
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
      if (!signal.aborted) showToast(explain(error), "failed");
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
  const isGone = view === "items" && page !== "new" && isAmong && !listedEntry(vault, item);
  if (isGone) navigate({ view: "items" }, { replace: true });
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
