/** The memory of workerd, as Linux reports it. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const readStatus = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return ""; // the process has ended
  }
};

const parentOf = (status: string) => /^PPid:\t(\d+)$/m.exec(status)?.[1];

/** Whether the process was started by this one, directly or not. */
function isDescendant(pid: string): boolean {
  const parent = parentOf(readStatus(pid));
  return parent !== undefined && parent !== "0" && (parent === String(process.pid) || isDescendant(parent));
}

/** The process of workerd that this process has started. Throws when there is none. */
export function findWorkerd(): string {
  const pids = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  const found = pids.filter((pid) => /^Name:\tworkerd$/m.test(readStatus(pid)) && isDescendant(pid));
  // With several, the one that was started last serves the requests.
  const workerd = found.at(-1);
  if (workerd === undefined) throw new Error("workerd was not found in /proc");
  return workerd;
}

const kib = (pid: string, name: "VmRSS" | "VmHWM") =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readStatus(pid))?.[1] ?? Number.NaN);

/** The resident memory in MiB. */
export const residentMemory = (pid: string): number => kib(pid, "VmRSS") / 1024;

/** Makes the next `peakMemory` report the peak from now on (proc(5), clear_refs). */
export const resetPeak = (pid: string): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** The peak of the resident memory in MiB. */
export const peakMemory = (pid: string): number => kib(pid, "VmHWM") / 1024;
