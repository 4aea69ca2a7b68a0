import type { LocalClock } from "./serving.ts";
import type { World } from "./world.ts";

/** Clocks of isolates and coordinators that differ, and jump forwards and back. */
export interface LocalClocks {
  readonly start: () => LocalClock;
  /** Lets them jump until it is over. */
  readonly run: (isOver: () => boolean) => Promise<void>;
  /** How often they have jumped. */
  readonly jumps: () => number;
}

/** How far a clock jumps: the share of its jumps, and the milliseconds at most. */
const JUMPS = [
  { share: 0.4, most: 1_500 },
  { share: 0.4, most: 60_000 },
  { share: 0.2, most: 3_600_000 },
] as const;
/** Milliseconds by which a clock is wrong at most. */
export const WRONG_MAX = 3_600_000;
/** Milliseconds between two jumps of any clock, at most. */
const BETWEEN = 20_000;

/** In: how many isolates there are, whose clocks are the first ones that start. The others are those of coordinators, of which the last ones work. */
export function createLocalClocks({ clock, random, pick }: World, isolates: number): LocalClocks {
  const clocks: LocalClock[] = [];

  function drawJump(): number {
    let left = random();
    const { most } = JUMPS.find(({ share }) => (left -= share) < 0) ?? JUMPS[0];
    return Math.round(most * (2 * random() - 1));
  }

  return {
    start() {
      const one = { ahead: drawJump(), jumps: [] };
      clocks.push(one);
      return one;
    },
    jumps: () => clocks.reduce((sum, { jumps }) => sum + jumps.length, 0),
    async run(isOver) {
      while (!isOver()) {
        await clock.sleep(BETWEEN * random());
        const one = pick([...clocks.slice(0, isolates), clocks.at(-1)!]);
        const drawn = drawJump();
        const by = Math.abs(one.ahead + drawn) > WRONG_MAX ? -one.ahead : drawn;
        one.ahead += by;
        one.jumps.push({ time: clock.now(), by });
      }
    },
  };
}
