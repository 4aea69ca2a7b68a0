import { TransferError } from "@item-vault/transfer/error";
import type { ColumnChoice } from "@item-vault/transfer/formats/csv/header";
import { signal } from "@preact/signals";
import { explain, Problem } from "../failures/explain.ts";
import { sessionClient } from "../state/client.ts";
import { loadItems, vaults } from "../state/items.ts";
import type { Forecast, Reading, Source, Stage } from "./engine.ts";

const loadEngine = () => import("./engine.ts");
const FIRST: Reading = { password: undefined, includeTrash: false, format: undefined, columns: undefined };

/** One import, from the choice of a file to its report. Its data is dropped with it, when the view is left. */
export class Import {
  readonly stage = signal<Stage>({ name: "choose" });
  readonly file = signal<File | undefined>(undefined);
  readonly reading = signal<Reading>(FIRST);
  /** For each name of a vault in the source the id of the vault here; another text when its Items are left out. */
  readonly targets = signal<ReadonlyMap<string, string>>(new Map());
  readonly forecast = signal<Forecast | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  readonly done = signal(0);
  #source: Source | undefined;
  #columns: readonly ColumnChoice[] = [];
  /** Of the current run: an answer to an earlier run is ignored. */
  #controller = new AbortController();

  chooseFile(file: File): void {
    this.close();
    this.file.value = file;
    void this.read({});
  }

  async read(changes: Partial<Reading>): Promise<void> {
    const run = this.#begin();
    const reading = (this.reading.value = { ...this.reading.value, ...changes });
    // The Items in the trash may belong to other vaults with the same name as one whose target was chosen.
    if (changes.includeTrash !== undefined) this.targets.value = new Map();
    this.stage.value = { name: "reading" };
    let next: Stage;
    try {
      next = await (await loadEngine()).readSource(this.file.value!, reading);
    } catch (error) {
      const problem = { kind: "fault", text: explainFault(error) } as const;
      if (reading.columns) next = { name: "columns", columns: this.#columns, problem };
      else next = { name: reading.password === undefined ? "choose" : "password", problem };
    }
    if (!this.#isCurrent(run)) return;
    if (next.name === "review") this.#source = next.source;
    if (next.name === "columns") this.#columns = next.columns;
    this.stage.value = next;
  }

  readonly changeColumns = (): void => void (this.stage.value = { name: "columns", columns: this.#columns });

  setTargets(targets: ReadonlyMap<string, string>): void {
    this.targets.value = targets;
    void this.compare();
  }

  /** Compares the source with the vaults. Returns true if that succeeded. */
  readonly compare = async (): Promise<boolean> => {
    const run = this.#begin();
    this.forecast.value = this.problem.value = undefined;
    try {
      const { planSource } = await loadEngine();
      const forecast = await planSource(this.#source!, new Map([...this.targets.value].flatMap(targetOf)), run);
      if (this.#isCurrent(run)) this.forecast.value = forecast;
    } catch (error) {
      if (this.#isCurrent(run)) this.problem.value = new Problem(explainFault(error));
    }
    return this.#isCurrent(run) && this.forecast.value !== undefined;
  };

  async write(): Promise<void> {
    const { items } = this.forecast.value!;
    const run = this.#begin();
    this.done.value = 0;
    this.stage.value = { name: "writing", all: items.length };
    const { writeItems } = await loadEngine();
    const counts = await writeItems(items, { signal: run, onItem: () => this.done.value++ });
    void loadItems();
    if (!this.#isCurrent(run)) return;
    const stopped = run.aborted && this.done.value < items.length;
    this.stage.value = { name: "finished", result: { ...counts, stopped, all: items.length } };
  }

  readonly stop = (): void => this.#controller.abort();

  /** Continues after an interruption: existing Items are found again, so none is made twice. */
  async resume(): Promise<void> {
    if (await this.compare()) await this.write();
  }

  readonly close = (): void => {
    this.#begin();
    this.#source = this.file.value = this.forecast.value = this.problem.value = undefined;
    this.reading.value = FIRST;
    this.targets.value = new Map();
    this.#columns = [];
    this.stage.value = { name: "choose" };
  };

  /** Ends the requests of the current run. Returns the signal of the next run. */
  #begin(): AbortSignal {
    this.#controller.abort();
    return (this.#controller = new AbortController()).signal;
  }

  #isCurrent(run: AbortSignal): boolean {
    return run === this.#controller.signal;
  }
}

function targetOf([name, id]: readonly [string, string]) {
  const vault = vaults.value.find((one) => one.id === id);
  return vault ? [[name, { id, name: vault.name, client: sessionClient }] as const] : [];
}

/** Returns a fault of the file as the command line puts it, or a failed request as the console does. It contains no value. */
export function explainFault(error: unknown): string {
  if (!(error instanceof TransferError)) return explain(error);
  return [error.message, error.hint ?? ""]
    .map((text) => (/[.!?]$|^$/.test(text) ? text : `${text}.`))
    .join(" ")
    .trim();
}
