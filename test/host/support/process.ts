import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";

/** `item-vault server` of the sources of this checkout as a process. */

export interface ServerProcess {
  readonly process: ChildProcess;
  /** Lines of stderr. */
  readonly lines: readonly string[];
  /** Resolves with the URL on which the server listens. Rejects when the process ends before. */
  readonly listening: () => Promise<string>;
  /** Sends a signal and waits for the end. Returns the exit code; null after SIGKILL. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** The files that the command line is run with: the sources of this checkout. */
export const PROGRAM = ["--conditions=source", "--disable-warning=ExperimentalWarning", "packages/cli/src/main.ts"];

/** Arguments to serve a directory on a free port. The user of a container may be root. */
export const serving = (data: string): readonly string[] => [
  "--data",
  data,
  "--listen",
  "127.0.0.1:0",
  ...(process.getuid?.() === 0 ? ["--allow-root"] : []),
];

/** Starts the Worker of a folder (test/config/release.ts). The process may refuse to start. */
export function startProcess(
  release: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServerProcess {
  const child = spawn(process.execPath, [...PROGRAM, "server", "--from", release, ...args], {
    stdio: ["ignore", "inherit", "pipe"],
    env: { PATH: process.env["PATH"], HOME: tmpdir(), ...env },
  });
  const lines: string[] = [];
  const url = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const [, found] = /listening on (\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`The server ended:\n${lines.join("\n")}`)));
  });
  url.catch(() => undefined); // a caller that does not ask
  return {
    process: child,
    lines,
    listening: () => url,
    async end(signal = "SIGTERM") {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}
