import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run in which no file and no test has begun or ended for a time that exceeds every time-out, and names what was running.
 * vitest waits for ever for a process that no longer answers, and prints a file only when the file has ended.
 */
export const hangs = (silenceMsMax: number): Reporter => {
  const running = new Map<string, string>();
  let watch: NodeJS.Timeout | undefined;
  const end = (): never => {
    console.error([`No test has begun or ended for ${silenceMsMax / 60_000} minutes:`, ...running.values()].join("\n  "));
    process.exit(1);
  };
  const heard = ({ id, relativeModuleId, project }: TestModule, state: string): void => {
    running.set(id, `${relativeModuleId} (${project.name}) ${state}`);
    clearTimeout(watch);
    watch = setTimeout(end, silenceMsMax);
  };
  return {
    onTestModuleQueued: (file) => heard(file, "has been queued"),
    onTestCaseReady: (test) => heard(test.module, `runs: ${test.fullName}`),
    onTestCaseResult: (test) => heard(test.module, `has run: ${test.fullName}`),
    onTestModuleEnd: ({ id }) => void running.delete(id),
    onTestRunEnd: () => clearTimeout(watch),
  };
};
