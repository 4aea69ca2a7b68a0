import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";
import { rankOf, shardOf } from "./order.ts";

/** Orders and divides the test files by test/config/order.ts, and prints the ten slowest at the end. */

export class ByHarm extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard!;
    return shardOf(files, index, count);
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- not the method of an array
    // A worker takes the next file only if that is of its project: otherwise vitest starts another worker, which loads the sources again.
    return sorted.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId) || a.project.name.localeCompare(b.project.name));
  }
}

const PRINTED = 10;

const secondsOf = (file: TestModule): number => {
  const { collectDuration, setupDuration, duration } = file.diagnostic();
  return (collectDuration + setupDuration + duration) / 1000;
};

/** Prints the ten slowest files, one line each, at the end of a run of more than ten files. */
export const slowestFiles: Reporter = {
  onTestRunEnd(files) {
    if (files.length <= PRINTED) return;
    const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, PRINTED);
    const lines = slowest.map(
      (file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${file.relativeModuleId} (${file.project.name})`,
    );
    console.log(["The slowest test files:", ...lines].join("\n"));
  },
};
