import { type Io, write } from "../frame/io.ts";

/** Shows how far a long command is: a bar on a terminal, else a line from time to time. Both go to stderr. */

const WIDTH = 30;
const FRAME = 100; // milliseconds between two states of the bar
const LINE = 10_000; // milliseconds between two lines

export interface ProgressReport {
  readonly update: (done: number, all: number) => void;
  readonly end: () => Promise<void>;
}

/** In: what is done with Items, for example `imported`. */
export function startProgress({ stderr }: Pick<Io, "stderr">, verb: string): ProgressReport {
  const begun = Date.now();
  const tty = stderr.isTTY === true;
  let last = tty ? 0 : begun;
  const show = (done: number, all: number) => {
    const seconds = (Date.now() - begun) / 1000;
    const left = done > 0 && seconds > 2 ? `, ${Math.ceil((seconds / done) * (all - done))} s left` : "";
    const filled = all === 0 ? WIDTH : Math.round((WIDTH * done) / all);
    const bar = tty ? `\r[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ` : "";
    stderr.write(`${bar}${done} of ${all} Items ${verb}${left}${tty ? "\u001B[K" : "\n"}`);
  };
  return {
    update: (done, all) => {
      const now = Date.now();
      if (now - last < (tty ? FRAME : LINE) && !(tty && done === all)) return;
      last = now;
      show(done, all);
    },
    end: async () => (tty && last > 0 ? await write(stderr, "\n") : undefined),
  };
}
