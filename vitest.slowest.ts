import type { Reporter, TestModule } from "vitest/node";

/** Prints the ten test files that took longest, one line each, at the end of a run of more than ten. Runs in Node. */

const COUNT = 10;

const secondsOf = (file: TestModule): number => {
  const { collectDuration, setupDuration, duration } = file.diagnostic();
  return (collectDuration + setupDuration + duration) / 1000;
};

export const slowestFiles: Reporter = {
  onTestRunEnd(files) {
    if (files.length <= COUNT) return;
    const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, COUNT);
    const lines = slowest.map(
      (file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${file.relativeModuleId} (${file.project.name})`,
    );
    console.log(["", "The slowest test files:", ...lines].join("\n"));
  },
};
