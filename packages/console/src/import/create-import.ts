import { computed, signal } from "@preact/signals";
import type { ColumnChoice } from "@item-vault/transfer/formats/csv/header";
import type { PlannedItem } from "@item-vault/transfer/plan";
import { sessionClient } from "../state/client.ts";
import { loadItems, vaults } from "../state/items.ts";
import { explainFault } from "./faults.ts";
import type { Reading, Source } from "./engine.ts";
import type { Forecast, Stage } from "./stage.ts";

/** One import, from the choice of a file to its report. What it holds is dropped with it, when the view is left. */

export type Import = ReturnType<typeof createImport>;

const loadEngine = () => import("./engine.ts");
const FIRST: Reading = { password: undefined, includeTrash: false, format: undefined, columns: undefined };

/** The state of an import. The views read the signals. */
function createState() {
  /** For each name of a vault in the source the id of the vault here; "" when its Items are left out. */
  const targets = signal<ReadonlyMap<string, string>>(new Map());
  return {
    stage: signal<Stage>({ name: "choose" }),
    file: signal<File | undefined>(undefined),
    reading: signal<Reading>(FIRST),
    targets,
    chosen: computed(() => new Map([...targets.value].flatMap(([name, id]) => targetOf(name, id)))),
    planned: signal<readonly PlannedItem[] | undefined>(undefined),
    forecast: signal<Forecast | undefined>(undefined),
    problem: signal(""),
    done: signal(0),
    source: undefined as Source | undefined,
    /** The columns of a CSV file of no known app. */
    columns: [] as readonly ColumnChoice[],
    controller: new AbortController(),
    /** Counts runs, so that an answer to an earlier run is ignored. */
    current: 0,
  };
}

type State = ReturnType<typeof createState>;

export function createImport() {
  const state = createState();
  const { stage, file, reading, targets, forecast, problem, done } = state;
  return {
    stage,
    file,
    reading,
    targets,
    forecast,
    problem,
    done,
    chooseFile: (next: File) => {
      file.value = next;
      reading.value = FIRST;
      targets.value = new Map();
      void read(state, {});
    },
    read: (changes: Partial<Reading>) => void read(state, changes),
    changeColumns: () => void (stage.value = { name: "columns", columns: state.columns }),
    setTargets: (next: ReadonlyMap<string, string>) => {
      targets.value = next;
      void compare(state);
    },
    compare: () => void compare(state),
    write: () => void write(state),
    stop: () => state.controller.abort(),
    /** Continues after an interruption: existing Items are found again. */
    resume: async (): Promise<void> => {
      if (await compare(state)) await write(state);
    },
    close: () => close(state),
  };
}

/** Stops, and drops the file and the data read from it. */
function close(state: State): void {
  state.current++;
  state.controller.abort();
  state.source = undefined;
  state.columns = [];
  state.file.value = undefined;
  state.reading.value = FIRST;
  state.targets.value = new Map();
  state.planned.value = undefined;
  state.forecast.value = undefined;
  state.stage.value = { name: "choose" };
}

async function read(state: State, changes: Partial<Reading>): Promise<void> {
  const { stage, file, reading } = state;
  const run = ++state.current;
  reading.value = { ...reading.value, ...changes };
  // The Items in the trash may belong to other vaults with the same name as one whose target was chosen.
  if (changes.includeTrash !== undefined) state.targets.value = new Map();
  stage.value = { name: "reading" };
  try {
    const outcome = await (await loadEngine()).readSource(file.value!, reading.value);
    if (run !== state.current) return;
    if (outcome.kind === "read") review(state, outcome.source);
    else if (outcome.kind === "columns") stage.value = { name: "columns", columns: (state.columns = outcome.columns) };
    else if (outcome.kind === "password") stage.value = { name: "password" };
    else stage.value = { name: "choose", problem: { kind: outcome.kind, text: "" } };
  } catch (error) {
    if (run !== state.current) return;
    const fault = { kind: "fault", text: explainFault(error) } as const;
    if (reading.value.columns) stage.value = { name: "columns", columns: state.columns, problem: fault };
    else stage.value = { name: reading.value.password === undefined ? "choose" : "password", problem: fault };
  }
}

function review(state: State, source: Source): void {
  state.source = source;
  state.stage.value = { name: "review", source };
  state.planned.value = undefined;
}

/** Compares the source with the vaults. Returns true if that succeeded. */
async function compare(state: State): Promise<boolean> {
  const run = ++state.current;
  const { signal: ended } = restart(state);
  state.planned.value = undefined;
  state.forecast.value = undefined;
  state.problem.value = "";
  try {
    const engine = await loadEngine();
    const found = await engine.planSource(state.source!, state.chosen.value, ended);
    if (run !== state.current) return false;
    state.planned.value = found;
    state.forecast.value = forecastOf(found, engine.isComplete);
    return true;
  } catch (error) {
    if (run === state.current) state.problem.value = explainFault(error);
    return false;
  }
}

async function write(state: State): Promise<void> {
  const { stage, done } = state;
  const items = state.planned.value!;
  const run = ++state.current;
  const controller = restart(state);
  done.value = 0;
  stage.value = { name: "writing", all: items.length };
  const { writeItems } = await loadEngine();
  const counts = await writeItems(items, { signal: controller.signal, onItem: () => done.value++ });
  void loadItems();
  if (run !== state.current) return;
  const stopped = controller.signal.aborted && done.value < items.length;
  stage.value = { name: "finished", result: { ...counts, stopped, all: items.length } };
}

/** Ends the requests of the current run. Returns the controller of the next run. */
function restart(state: State): AbortController {
  state.controller.abort();
  return (state.controller = new AbortController());
}

function targetOf(name: string, id: string) {
  const vault = vaults.value.find((one) => one.id === id);
  return vault ? [[name, { id, name: vault.name, client: sessionClient }] as const] : [];
}

function forecastOf(
  planned: readonly PlannedItem[],
  isComplete: (found: PlannedItem["found"], steps: PlannedItem["steps"]) => boolean,
): Forecast {
  const differing = planned.flatMap(({ found, item }) => (found?.differs ? [item.title] : []));
  const created = planned.filter(({ found }) => !found).length;
  const present = planned.filter(({ found, steps }) => isComplete(found, steps)).length;
  return { created, present, differing, completed: planned.length - created - present - differing.length };
}
