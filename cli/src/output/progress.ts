import type { Io } from "../frame/io.ts";
import { cut, printable } from "./text.ts";

/** A bar on stderr for what takes long. Nothing is written when stderr is no terminal. */

const WIDTH = 30;
const INTERVAL = 100; // milliseconds between two drawings

export interface Progress {
  /** Adds to what is done. */
  add(amount: number): void;
  /** Removes the bar. */
  end(): void;
}

/** `total`: the amount at the end; `undefined` when it is not known. `env.NO_COLOR` changes nothing: the bar has no colors. */
export function startProgress({ stderr }: Io, label: string, total: number | undefined): Progress {
  if (!stderr.isTTY) return { add: () => undefined, end: () => undefined };
  let [done, drawn] = [0, 0];
  const draw = () => {
    drawn = Date.now();
    stderr.write(`\r\u001B[K${cut(`${barOf(done, total)} ${printable(label)}`, (stderr.columns || 80) - 1)}`);
  };
  return {
    add(amount) {
      done += amount;
      if (Date.now() - drawn >= INTERVAL) draw();
    },
    end() {
      if (drawn > 0) stderr.write("\r\u001B[K");
    },
  };
}

function barOf(done: number, total: number | undefined): string {
  const amount = `${(done / 1_000_000).toFixed(1)} MB`;
  if (!total) return amount;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % ${amount}`;
}
