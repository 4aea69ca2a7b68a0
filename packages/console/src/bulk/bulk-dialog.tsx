import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ItemSummary } from "@item-vault/client";
import { explain } from "../failures/explain.ts";
import { titleOf } from "../items/categories.ts";
import { type Act, type Bulk, bulk } from "../state/bulk.ts";
import { clearSelection } from "../state/selection.ts";
import { navigate, route } from "../state/route.ts";
import { hideToasts, showToast } from "../state/toasts.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { listedEntry } from "../state/items.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { plural } from "../ui/plural.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { afterRender } from "../ui/page.tsx";
import { type Outcome, runAll } from "./run.ts";

/** Shows an act on several Items while it runs, and its report unless all are done. */
export function BulkDialog({ act, items }: Bulk) {
  const { outcomes, running, lacks, stop, ...steps } = useBulk({ act, items });
  const title = `${act.title}: ${plural(items.length, "item")}`;
  if (lacks.length > 0)
    return (
      <Dialog title={title} onClose={steps.onClose}>
        <p>The file is saved. It lacks:</p>
        <ul class="outcomes">
          {lacks.map((what) => (
            <li key={what}>{what}</li>
          ))}
        </ul>
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
        <button type="button" onClick={stop}>
          Stop
        </button>
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

/** Runs an act while its dialog is shown. */
function useBulk({ act, items }: Bulk) {
  const outcomes = useSignal<readonly Outcome[]>(items.map((item) => ({ item, state: "waiting" })));
  const running = useSignal(true);
  /** What the saved file lacks. */
  const lacks = useSignal<readonly string[]>([]);
  const abort = useRef<AbortController>(undefined);
  const stop = () => abort.current?.abort();
  const run = async () => {
    running.value = true;
    const { signal } = (abort.current = new AbortController());
    const last = await runAll(outcomes.value, act.run, { signal, onChange: (changed) => (outcomes.value = changed) });
    outcomes.value = last;
    const isStopped = act.save && signal.aborted;
    if (!isStopped && last.every(({ state }) => state === "done")) await end();
    running.value = false;
  };
  /** Saves the file, or tells what is done. */
  const end = async () => {
    running.value = true;
    const { signal } = (abort.current = new AbortController());
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

interface ReportProps {
  readonly title: string;
  readonly act: Act;
  readonly outcomes: readonly Outcome[];
  readonly onRetry: () => void;
  readonly onEnd: () => void;
  readonly onClose: () => void;
}

/** Reports which Items are done, and why others are not, by title. Part of a file is saved only if the person asks for it. */
function Report({ title, act, outcomes, onRetry, onEnd, onClose }: ReportProps) {
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
        {act.save && (
          <button type="button" onClick={onClose}>
            Discard
          </button>
        )}
        {(!act.save || left.length < outcomes.length) && (
          <button type="button" onClick={onEnd}>
            {act.save ? `Save ${done}` : "Done"}
          </button>
        )}
        {left.length > 0 && (
          <button type="button" class="primary" onClick={onRetry}>
            Retry {plural(left.length, "item")}
          </button>
        )}
      </div>
    </Dialog>
  );
}
