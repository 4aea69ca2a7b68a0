/** The cron trigger of wrangler.toml. */

const HOUR_MS = 3_600_000;
const HOURLY = /^([0-5]?\d) \* \* \* \*$/;

/** Milliseconds after the start at which the task runs once: otherwise a machine that is switched off at night would never run it. */
const FIRST_MS = 60_000;

/** A timer may end a moment early, and the clock may go back by that moment. */
const SLACK_MS = 1_000;

/** Runs a task each hour, at the minute of an expression such as `17 * * * *`. The task gets its time in Unix milliseconds. Throws unless the expression is hourly. */
export function createCron(expression: string, run: (time: number) => Promise<void>) {
  const minute = HOURLY.exec(expression)?.[1];
  if (minute === undefined) throw new Error(`The cron trigger "${expression}" is not hourly`);
  const offset = Number(minute) * 60_000;
  let timer: NodeJS.Timeout | undefined;
  function ring(): void {
    void run(Date.now());
    const now = Date.now();
    const next = Math.floor((now + SLACK_MS - offset) / HOUR_MS + 1) * HOUR_MS + offset;
    timer = setTimeout(ring, next - now).unref();
  }
  return {
    start() {
      timer = setTimeout(ring, FIRST_MS).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
