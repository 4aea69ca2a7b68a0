import type { Room } from "./database.ts";
import type { FaultName } from "./faults.ts";
import type { World } from "./world.ts";

/** Times in which the database has no room. */

const SHORTAGES = { "database nearly full": "little", "database full": "none" } as const satisfies Partial<
  Record<FaultName, Room>
>;

/** Milliseconds of a shortage, at most. */
const LONGEST = 100;

/** Begins a shortage, now and then. */
export function drawShortage({ faults, database, clock, random }: World): void {
  const drawn = faults.draw(Object.keys(SHORTAGES) as FaultName[]) as keyof typeof SHORTAGES | undefined;
  if (!drawn) return;
  database.setRoom(SHORTAGES[drawn]);
  clock.after(LONGEST * random(), () => database.setRoom("enough"));
}
