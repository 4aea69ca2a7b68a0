import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Shifts the clock of a built Worker back to the time of a kept release, so that the tokens of the release have not expired
 * and its idempotency records are younger than a day. The bundle is not changed.
 */

const CLOCK = (offset: number) => `
const OFFSET = ${offset};

globalThis.Date = class Date extends globalThis.Date {
  constructor(...values) {
    if (values.length === 0) super(Date.now());
    else super(...values);
  }
  static now() {
    return super.now() + OFFSET;
  }
};

let shifted = false;

/** workerd runs alarms by the clock of the machine, so their times are converted. */
export function shiftAlarms(storage) {
  if (shifted) return;
  shifted = true;
  const prototype = Object.getPrototypeOf(storage);
  const { getAlarm, setAlarm } = prototype;
  prototype.setAlarm = function (time, options) {
    return setAlarm.call(this, Number(time) - OFFSET, options);
  };
  prototype.getAlarm = async function (options) {
    const time = await getAlarm.call(this, options);
    return time === null ? null : time + OFFSET;
  };
}
`;

const durableObject = (name: string) => `
export class ${name} extends worker.${name} {
  constructor(ctx, env) {
    shiftAlarms(ctx.storage);
    super(ctx, env);
  }
}
`;

/**
 * Writes a Worker into `folder` that runs the bundle `index.js` there with another clock.
 * `offset`: milliseconds that it is ahead of the machine's; negative: behind. Out: the paths of its modules, the entry point first.
 */
export function writeClock(folder: string, offset: number, durableObjects: readonly string[]): string[] {
  const lines = [
    `import { shiftAlarms } from "./clock.js";`,
    `import * as worker from "./index.js";`,
    `export default worker.default;`,
    ...durableObjects.map(durableObject),
  ];
  const [entry, clock, bundle] = ["entry.js", "clock.js", "index.js"].map((name) => join(folder, name));
  writeFileSync(clock!, CLOCK(offset));
  writeFileSync(entry!, lines.join("\n"));
  return [entry!, clock!, bundle!];
}
