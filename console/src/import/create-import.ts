import { computed, signal } from "@preact/signals";
import type { PlannedItem } from "../../../cli/src/transfer/plan.ts";
import { sessionClient } from "../api/client.ts";
import { loadItems, vaults } from "../state/items.ts";
import { explainFault } from "./faults.ts";
import type { Reading, Source } from "./engine.ts";
import type { Forecast, Stage } from "./stage.ts";

/** One import, from the choice of a file to its report. What it holds is dropped with it, when the view is left. */

export type Import = ReturnType<typeof createImport>;

const loadEngine = () => import("./engine.ts");
const FIRST: Reading = { password: undefined, includeTrash: false, format: undefined };

export function createImport() {
  const stage = signal<Stage>({ name: "choose" });
  const file = signal<File | undefined>(undefined);
  const reading = signal<Reading>(FIRST);
  /** For each name of a vault in the source the id of the vault here; "" when its Items are left out. */
  const targets = signal<ReadonlyMap<string, string>>(new Map());
  const planned = signal<readonly PlannedItem[] | undefined>(undefined);
  const forecast = signal<Forecast | undefined>(undefined);
  const problem = signal("");
  const done = signal(0);
  const chosen = computed(() => new Map([...targets.value].flatMap(([name, id]) => targetOf(name, id))));
  let source: Source | undefined;
  let controller = new AbortController();
  /** Counts what begins, so that an answer which arrives after something else has begun is ignored. */
  let current = 0;

  async function read(changes: Partial<Reading>): Promise<void> {
    const run = ++current;
    reading.value = { ...reading.value, ...changes };
    stage.value = { name: "reading" };
    try {
      const outcome = await (await loadEngine()).readSource(file.value!, reading.value);
      if (run !== current) return;
      if (outcome.kind === "read") review(outcome.source);
      else if (outcome.kind === "password") stage.value = { name: "password" };
      else stage.value = { name: "choose", problem: { kind: outcome.kind, text: "" } };
    } catch (error) {
      if (run !== current) return;
      const fault = { kind: "fault", text: explainFault(error) } as const;
      stage.value =
        reading.value.password === undefined ? { name: "choose", problem: fault } : { name: "password", problem: fault };
    }
  }

  function review(next: Source): void {
    source = next;
    stage.value = { name: "review", source };
    planned.value = undefined;
  }

  /** Compares the source with the vaults. Out: whether that succeeded. */
  async function compare(): Promise<boolean> {
    const run = ++current;
    planned.value = undefined;
    forecast.value = undefined;
    problem.value = "";
    try {
      const engine = await loadEngine();
      const found = await engine.planSource(source!, chosen.value);
      if (run !== current) return false;
      planned.value = found;
      forecast.value = forecastOf(found, engine.isComplete);
      return true;
    } catch (error) {
      if (run === current) problem.value = explainFault(error);
      return false;
    }
  }

  async function write(): Promise<void> {
    const items = planned.value!;
    const run = ++current;
    controller = new AbortController();
    done.value = 0;
    stage.value = { name: "writing", all: items.length };
    const { writeItems } = await loadEngine();
    const counts = await writeItems(items, { signal: controller.signal, onItem: () => done.value++ });
    void loadItems();
    if (run !== current) return;
    const stopped = controller.signal.aborted && done.value < items.length;
    stage.value = { name: "finished", result: { ...counts, stopped, all: items.length } };
  }

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
      void read({});
    },
    read: (changes: Partial<Reading>) => void read(changes),
    setTargets: (next: ReadonlyMap<string, string>) => {
      targets.value = next;
      void compare();
    },
    compare: () => void compare(),
    write: () => void write(),
    stop: () => controller.abort(),
    /** Continues after an interruption: what is there already is found again. */
    resume: async (): Promise<void> => {
      if (await compare()) await write();
    },
    /** Stops, and drops the file and what was read of it. */
    close: () => {
      current++;
      controller.abort();
      source = undefined;
      file.value = undefined;
      reading.value = FIRST;
      targets.value = new Map();
      planned.value = undefined;
      forecast.value = undefined;
      stage.value = { name: "choose" };
    },
  };
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
