import type { Room } from "./database.ts";
import type { FaultName } from "./faults.ts";
import type { History } from "./history.ts";
import type { World } from "./world.ts";

/** Times in which the database has no room. */

const SHORTAGES = { "database nearly full": "little", "database full": "none" } as const satisfies Partial<
  Record<FaultName, Room>
>;

/** Milliseconds of a shortage, at most. */
const LONGEST = 100;

/** Begins a shortage, now and then. */
export function drawShortage({ faults, database, clock, random, tick }: World, { shortages }: History): void {
  const record = (more: number) => shortages.push({ tick: tick(), running: shortages.at(-1)!.running + more });
  const drawn = faults.draw(Object.keys(SHORTAGES) as FaultName[]) as keyof typeof SHORTAGES | undefined;
  if (!drawn) return;
  database.setRoom(SHORTAGES[drawn]);
  record(1);
  clock.after(LONGEST * random(), () => database.setRoom("enough"));
  // The service learns of the size from answers, which may arrive a little later.
  clock.after(2 * LONGEST, () => record(-1));
}
