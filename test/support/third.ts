import { beforeEach, inject, type RunnerTask } from "vitest";
import { isLong } from "../../vitest.long.ts";

/** A setup file: of the long tests of a file, `npm test` runs a third, others on each day (vitest.long.ts). */

const third = inject("third");

const testsOf = (tasks: readonly RunnerTask[]): RunnerTask[] =>
  tasks.flatMap((task) => (task.type === "suite" ? testsOf(task.tasks) : [task]));

if (third !== null)
  beforeEach(({ task, skip }) => {
    const { filepath, tasks } = task.file;
    if (isLong(filepath)) skip(testsOf(tasks).indexOf(task) % 3 !== third, "It runs on another day, and in `npm run test:all`.");
  });
