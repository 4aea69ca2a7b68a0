import { resolve } from "node:path";
import { BaseSequencer, createVitest, type TestSpecification } from "vitest/node";

/**
 * The process that runs the tests of each planted bug. It keeps one Vitest with its modules, so that a run starts in 2 seconds in place of
 * 12. The parent kills it when a bug made a test loop for ever.
 */

/** The file that changed, and beginnings of the paths of the tests to run. */
export interface Run {
  readonly path: string;
  readonly tests: readonly string[];
}

/** Milliseconds that each file took in earlier runs. */
const durations = new Map<string, number>();

/** Runs short files first: most bugs fail many files. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => (durations.get(a.moduleId) ?? 0) - (durations.get(b.moduleId) ?? 0));
  }
}

const sequence = { sequencer: ShortestFirst };
const vitest = await createVitest("test", { watch: false, bail: 1, maxWorkers: 1, reporters: ["dot"], sequence });
await vitest.standalone();
let before: string | undefined;

/** Returns whether a test failed. The run ends with the first failure. */
async function fails({ path, tests }: Run): Promise<boolean> {
  for (const changed of [path, before]) if (changed !== undefined) vitest.invalidateFile(resolve(changed));
  before = path;
  const specifications = await vitest.globTestSpecifications([...tests]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
  for (const module of testModules) if (module.state() === "passed") durations.set(module.moduleId, module.diagnostic().duration);
  return unhandledErrors.length > 0 || testModules.some((module) => module.state() === "failed");
}

process.on("message", (run: Run) => void fails(run).then((failed) => process.send!(failed)));
