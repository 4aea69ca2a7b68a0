import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run in which no file and no test has begun or ended for a time that exceeds every time-out, and names the last files.
 * vitest waits for ever for a process that no longer answers, and prints a file only when the file has ended.
 */
export const hangs = (silenceMsMax: number): Reporter => {
  const states = new Map<string, string>();
  let watch: NodeJS.Timeout | undefined;
  const end = (): never => {
    const last = [...states.values()].slice(-5);
    console.error([`No test has begun or ended for ${silenceMsMax / 60_000} minutes:`, ...last].join("\n  "));
    process.exit(1);
  };
  const heard = ({ id, relativeModuleId, project }: TestModule, state: string): void => {
    states.delete(id);
    states.set(id, `${relativeModuleId} (${project.name}) ${state}`);
    clearTimeout(watch);
    watch = setTimeout(end, silenceMsMax);
  };
  return {
    onTestModuleQueued: (file) => heard(file, "has been queued"),
    onTestCaseReady: (test) => heard(test.module, `runs: ${test.fullName}`),
    onTestCaseResult: (test) => heard(test.module, `has run: ${test.fullName}`),
    onTestModuleEnd: (file) => heard(file, "has ended"),
    onTestRunEnd: () => clearTimeout(watch),
  };
};
