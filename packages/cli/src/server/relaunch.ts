import { CliError } from "../frame/failure.ts";

/** Protections of the process that only its start can have. */

/** Options of Node: SIGUSR1 would open its debugger, and with it the memory. */
const PROTECTION = "--disable-sigusr1";
/** Half of V8's default: young objects took 90 MiB more after 10,000 writes, and collecting them more often costs nothing that can be measured. */
const YOUNG_SPACE = "--max-semi-space-size=8";
const OPTIONS = [PROTECTION, YOUNG_SPACE, "--disable-warning=ExperimentalWarning"];

/** The size limit does not apply to a core dump that goes to a program (core(5)), so no memory is marked for dumping. */
const NO_DUMP = "echo 0 2>/dev/null >/proc/self/coredump_filter; ulimit -c 0";

/**
 * Replaces this process by a process that writes no core dump, opens no debugger, and has not run the code of NODE_OPTIONS. Returns if this
 * process already has them.
 */
export function relaunchProtected(): void {
  if (process.execArgv.includes(PROTECTION)) return;
  if (process.platform === "win32" || process.execve === undefined)
    throw new CliError(
      `\`item-vault server\` needs Linux or macOS, and Node.js 24.21 or later: this is Node.js ${process.versions.node}`,
      { exit: "usage" },
    );
  // Each sync of a file occupies a thread of the pool. glibc would keep freed memory for each thread.
  const { NODE_OPTIONS: _, ...own } = process.env;
  const environment = { ...own, UV_THREADPOOL_SIZE: "16", MALLOC_ARENA_MAX: "2" };
  const node = [process.execPath, ...OPTIONS, ...process.execArgv, ...process.argv.slice(1)];
  process.execve("/bin/sh", ["sh", "-c", `${NO_DUMP}; exec "$@"`, "sh", ...node], environment);
}
