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

/** Records that there is one shortage more, or one less. */
const record = ({ tick }: World, { shortages }: History, more: 1 | -1): void =>
  void shortages.push({ tick: tick(), running: shortages.at(-1)!.running + more });

/**
 * Waits after the last request of the clients, at times in a shortage: the flushes and the consumer of the queue then archive what they
 * have of the log.
 */
export async function sleepWithShortage(world: World, history: History, milliseconds: number): Promise<void> {
  const { faults, database, clock } = world;
  const isShort = faults.draw(["database nearly full during the last flushes"]) !== undefined;
  if (isShort) database.setRoom("little");
  if (isShort) record(world, history, 1);
  await clock.sleep(milliseconds);
  if (isShort) record(world, history, -1);
  database.setRoom("enough");
}

/** Begins a shortage, now and then. */
export function drawShortage(world: World, history: History): void {
  const { faults, database, clock, random } = world;
  const drawn = faults.draw(Object.keys(SHORTAGES) as FaultName[]) as keyof typeof SHORTAGES | undefined;
  if (!drawn) return;
  database.setRoom(SHORTAGES[drawn]);
  record(world, history, 1);
  clock.after(LONGEST * random(), () => database.setRoom("enough"));
  // The service learns of the size from answers, which may arrive a little later.
  clock.after(2 * LONGEST, () => record(world, history, -1));
}
