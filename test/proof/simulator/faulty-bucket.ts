import { R2_FAULTS, r2Error } from "./objects.ts";
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
