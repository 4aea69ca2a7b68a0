import { isLong } from "./vitest.days.ts";
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";

/** Runs the test files that take long first, and prints the ten slowest at the end. */

/** The long tests take longer than the size of their files suggests. vitest sorts files by their size until it has measured their time. */
const rank = ({ moduleId }: TestSpecification): number => (isLong(moduleId) ? 0 : 1);

export class SlowFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications); // oxlint-disable-line unicorn/no-array-sort -- not the method of an array
    // The files of a project stay together: a worker ends when a file of another project is next. The project with the fewest files is the
    // first one, because the other workers are idle while the last files run of those in Node.
    const projects = [...Map.groupBy(sorted, ({ project }) => project).values()].toSorted((a, b) => a.length - b.length);
    return projects.flatMap((files) => files.toSorted((a, b) => rank(a) - rank(b)));
  }
}

const PRINTED = 10;

const secondsOf = (file: TestModule): number => {
  const { collectDuration, setupDuration, duration } = file.diagnostic();
  return (collectDuration + setupDuration + duration) / 1000;
};

/** Prints SAMPLE and the ten slowest files, one line each, at the end of a run of more than ten files. */
export const slowestFiles: Reporter = {
  onTestRunEnd(files) {
    if (files.length <= PRINTED) return;
    const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, PRINTED);
    const lines = slowest.map(
      (file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${file.relativeModuleId} (${file.project.name})`,
    );
    console.log([`SAMPLE=${process.env["SAMPLE"]}`, "The slowest test files:", ...lines].join("\n"));
  },
};
