import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { explain } from "../failures/explain.ts";
import { titleOf } from "../items/categories.ts";
import { type Act, type Bulk, bulk } from "../state/bulk.ts";
import { clearSelection } from "../state/selection.ts";
import { navigate, route } from "../state/route.ts";
import { hideToasts, showToast } from "../state/toasts.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { listedEntry } from "../state/items.ts";
import { Dialog } from "../ui/dialog.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { plural } from "../ui/plural.ts";
import { focusList } from "../ui/virtual-list.tsx";
import { afterRender } from "../ui/after-render.ts";
import { type Outcome, runAll } from "./run.ts";

/** Shows an act on several Items while it runs, and its report unless all are done. */
export function BulkDialog({ act, items }: Bulk) {
  const outcomes = useSignal<readonly Outcome[]>(items.map((item) => ({ item, state: "waiting" })));
  const running = useSignal(true);
  const abort = useRef<AbortController>(undefined);
  const run = async () => {
    running.value = true;
    const { signal } = (abort.current = new AbortController());
    const last = await runAll(outcomes.value, act.run, { signal, onChange: (changed) => (outcomes.value = changed) });
    outcomes.value = last;
    running.value = false;
    if (last.every(({ state }) => state === "done")) end();
  };
  const end = () => {
    const undo = undoOf(act, outcomes.value);
    const done = countOf(outcomes.value, "done");
    // Another act may run when it is pressed.
    const action = undo && { label: "Undo", run: () => void (bulk.value ??= undo) };
    if (done > 0) showToast(`${plural(done, "item")} ${act.done}`, "done", action);
    bulk.value = undefined;
    clearSelection();
    // The open Item may be among the deleted or moved ones.
    const { view, vault = "", item = "", page } = route.value;
    const isAmong = outcomes.value.some((one) => keyOfItem(one.item) === itemKey(vault, item));
    const isGone = view === "items" && page !== "new" && isAmong && !listedEntry(vault, item);
    if (isGone) navigate({ view: "items" }, { replace: true });
    afterRender(focusList);
  };
  useLayoutEffect(() => {
    hideToasts();
    void run();
    return () => abort.current?.abort();
  }, []);
  const done = countOf(outcomes.value, "done");
  const title = `${act.title}: ${plural(items.length, "item")}`;
  if (!running.value)
    return <Report title={title} act={act} outcomes={outcomes.value} onRetry={() => void run()} onClose={end} />;
  return (
    <Dialog title={title}>
      <output class="step">{`${done.toLocaleString("en")} of ${items.length.toLocaleString("en")}`}</output>
      <progress aria-label={act.title} value={done} max={items.length} />
      <div class="buttons">
        <button type="button" onClick={() => abort.current?.abort()}>
          Stop
        </button>
      </div>
      <LeaveGuard
        changed={() => running.value}
        title="Stop?"
        text="The remaining items stay unchanged."
        stay="Continue"
        leave="Stop"
        onLeave={() => abort.current?.abort()}
      />
    </Dialog>
  );
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
  readonly onClose: () => void;
}

/** Reports which Items are done, and why others are not, by title. */
function Report({ title, act, outcomes, onRetry, onClose }: ReportProps) {
  const failed = outcomes.filter(({ state }) => state === "failed");
  const waiting = outcomes.filter(({ state }) => state === "waiting");
  return (
    <Dialog title={title} onClose={onClose}>
      <p role="alert">
        {plural(countOf(outcomes, "done"), "Item")} {act.done}. {plural(failed.length, "failed", "failed")}, and{" "}
        {plural(waiting.length, "item")} not tried.
      </p>
      <ul class="outcomes">
        {failed.map(({ item, error }) => (
          <li key={keyOfItem(item)}>
            <strong>{titleOf(item)}</strong> <span>{explain(error)}</span>
          </li>
        ))}
        {waiting.map(({ item }) => (
          <li key={keyOfItem(item)}>
            <strong>{titleOf(item)}</strong> <span class="quiet">not tried</span>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Done
        </button>
        <button type="button" class="primary" onClick={onRetry}>
          Retry {plural(failed.length + waiting.length, "item")}
        </button>
      </div>
    </Dialog>
  );
}
