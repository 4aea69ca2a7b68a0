import { BACKUP_FAULTS, R2_FAULTS, r2Error } from "./objects.ts";
import { never, type World } from "./world.ts";

const WAY = 10;

/** R2 as one owner reaches it: over a network, and with faults. The code of an owner that has ended goes no further. */
export function faultyBucket({ clock, random, faults, objects }: World, hasEnded: () => boolean): R2Bucket {
  const step = async (fault: (typeof R2_FAULTS)[number]): Promise<void> => {
    if (hasEnded()) return never();
    await clock.sleep(WAY * random());
    if (hasEnded()) return never();
    if (faults.draw([fault])) throw r2Error();
  };
  const [before, after] = R2_FAULTS;
  return objects.bucketFor(
    () => step(before),
    () => step(after),
  );
}

const SLOW = 200;

/**
 * The bucket of backups as one owner reaches it. R2 stores what was sent, whatever has become of its sender, and slowly: so an object of an
 * instance that has ended may arrive beside the work of the next one.
 */
export function faultyBackups({ clock, random, faults, backups, plant }: World, hasEnded: () => boolean): R2Bucket {
  const [before, after] = BACKUP_FAULTS;
  const send = async (milliseconds: number): Promise<void> => {
    if (hasEnded()) return never();
    await clock.sleep(milliseconds * random());
    if (faults.draw([before])) throw r2Error();
  };
  const answer = async (): Promise<void> => {
    await clock.sleep(WAY * random());
    if (hasEnded()) return never();
    if (faults.draw([after])) throw r2Error();
  };
  const slow = backups.bucketFor(() => send(SLOW), answer);
  const put = (...values: Parameters<R2Bucket["put"]>) => slow.put(...values);
  return plant.backups({ ...backups.bucketFor(() => send(WAY), answer), put: put as R2Bucket["put"] });
}
