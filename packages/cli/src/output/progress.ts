import type { Io } from "../frame/io.ts";
import { printable, plural } from "../frame/printable.ts";
import { cut } from "./text.ts";

/** A bar on stderr for long work. Nothing is written if stderr is not a terminal. */

const BAR_CHARACTERS = 30;
const DRAW_INTERVAL_MS = 100;

export interface Progress {
  /** Adds to the done amount. */
  add(amount: number): void;
  /** Sets the done amount, and the total. */
  readonly set: (done: number, total: number) => void;
  /** Removes the bar. */
  end(): void;
}

/** Formats the counted amount. */
type Unit = (done: number, total: number | undefined) => string;

const megabytes: Unit = (done) => `${(done / 1_000_000).toFixed(1)} MB`;
export const countOfItems: Unit = (done, total) =>
  total === undefined ? plural(done, "item") : `${done} of ${plural(total, "item")}`;

/** `total`: the amount at the end; `undefined` when it is not known yet. `env.NO_COLOR` changes nothing: the bar has no colors. */
export function startProgress(
  { stderr }: Pick<Io, "stderr">,
  label: string,
  total: number | undefined,
  unit: Unit = megabytes,
): Progress {
  if (!stderr.isTTY) return { add: () => undefined, set: () => undefined, end: () => undefined };
  const begun = Date.now();
  let [done, all, drawn] = [0, total, 0];
  const draw = () => {
    drawn = Date.now();
    const text = `${barOf(done, all)}${unit(done, all)} ${printable(label)}${timeLeft(done, all, drawn - begun)}`;
    stderr.write(`\r\u001B[K${cut(text, (stderr.columns || 80) - 1)}`);
  };
  const drawInTime = () => void (Date.now() - drawn >= DRAW_INTERVAL_MS && draw());
  return {
    add(amount) {
      done += amount;
      drawInTime();
    },
    set(amount, end) {
      [done, all] = [amount, end];
      drawInTime();
    },
    end() {
      if (drawn > 0) stderr.write("\r\u001B[K");
    },
  };
}

function barOf(done: number, total: number | undefined): string {
  if (!total) return "";
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_CHARACTERS);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_CHARACTERS - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % `;
}

/** Returns the time left by the milliseconds since the beginning, but nothing in the first two seconds. */
function timeLeft(done: number, total: number | undefined, elapsed: number): string {
  if (!total || done === 0 || done >= total || elapsed < 2_000) return "";
  return `, ${Math.ceil(((elapsed / done) * (total - done)) / 1_000)} s left`;
}
