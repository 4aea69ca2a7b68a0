import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";

/** Which test files take long: they run first, and the ten slowest are printed at the end. */

/** Small files that run for long. vitest goes by the size of a file until it has measured its time. */
const SLOW = /\/test\/(proof|promises)\//;

const rank = ({ moduleId }: TestSpecification): number => (SLOW.test(moduleId) ? 0 : 1);

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- it is no array
    // The files of a project stay together: a worker ends when a file of another project is next.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return own.toSorted((a, b) => rank(a) - rank(b));
    });
  }
}

const COUNT = 10;

const secondsOf = (file: TestModule): number => {
  const { collectDuration, setupDuration, duration } = file.diagnostic();
  return (collectDuration + setupDuration + duration) / 1000;
};

/** Prints the ten slowest files, one line each, at the end of a run of more than ten. */
export const slowestFiles: Reporter = {
  onTestRunEnd(files) {
    if (files.length <= COUNT) return;
    const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, COUNT);
    const lines = slowest.map(
      (file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${file.relativeModuleId} (${file.project.name})`,
    );
    console.log(["The slowest test files:", ...lines].join("\n"));
  },
};
