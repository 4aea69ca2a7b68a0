import { type Change, createDatabase } from "./database.ts";
import { never, type Replicas, type World } from "./world.ts";

/** Replicas of D1: each carries out the transactions of the primary in their order, some time after them, now and then a long time. */

const REPLICAS = 3;

/** How far behind a replica may be: the share of the time, and the milliseconds. */
const LAGS = [
  { share: 0.75, least: 5, most: 300 },
  { share: 0.17, least: 500, most: 5_000 },
  { share: 0.08, least: 20_000, most: 200_000 },
];
/** Milliseconds for which a replica stays as far behind, at most. */
const LAG_PERIOD = 20_000;
/** Milliseconds between two looks at whether a replica has reached a bookmark, and after which nobody waits any more. */
const LOOK = 40;
const WAIT_MAX = 5_000;
/** Milliseconds of one way to a replica, and the share of its answers that are lost. */
const WAY = 2;
const LOST = 0.03;
/** The share of the sessions with a bookmark that the primary does not have which D1 refuses. The others wait for it. */
const UNKNOWN = 0.5;

/** The bookmark after so many transactions: bookmarks sort as texts. */
export const bookmarkOf = (writes: number): string => String(writes).padStart(12, "0");

interface TimedChange {
  readonly time: number;
  readonly change: Change;
}

/** In: a world whose database has had no transaction yet. */
export function createReplicas({ clock, random, pick, database, deployment, faults, plant }: World): Replicas {
  /** Those of the transactions that the bookmarks count. */
  const changes: TimedChange[] = [];
  let stalledUntil = 0;

  function drawLag(): number {
    let left = random();
    const { least, most } = LAGS.find(({ share }) => (left -= share) < 0) ?? LAGS[0]!;
    return least + (most - least) * random();
  }

  function createReplica() {
    const copy = createDatabase(deployment);
    let [reached, lag, lagUntil] = [0, 0, 0];
    const carryOut = (change: Change): void => {
      if (change.restored) copy.restore(change.restored);
      else copy.batch(change.statements.filter(({ sql }) => plant.isReplicated?.(sql) ?? true));
    };
    return {
      copy,
      /** Out: how many transactions it has carried out. */
      catchUp(): number {
        if (clock.now() >= lagUntil) [lag, lagUntil] = [drawLag(), clock.now() + LAG_PERIOD * random()];
        while (reached < changes.length && changes[reached]!.time <= clock.now() - lag) carryOut(changes[reached++]!.change);
        return reached;
      },
      /** When the bookmarks go back, no replica has a state any more that the primary has lost. */
      goBack(change: Change, writes: number): void {
        carryOut(change);
        reached = writes;
      },
    };
  }
  const replicas = Array.from({ length: REPLICAS }, createReplica);

  database.follow((change) => {
    if (!change.restored || change.bookmarks === "go on") {
      changes.push({ time: clock.now(), change });
      return;
    }
    changes.length = change.restored.writes;
    for (const replica of replicas) replica.goBack(change, changes.length);
  });

  return {
    async read(from, statements) {
      const replica = pick(replicas);
      await clock.sleep(WAY * random());
      if (from > bookmarkOf(changes.length) && random() < UNKNOWN) throw new Error("D1_ERROR: the bookmark is not known");
      let bookmark = bookmarkOf(replica.catchUp());
      for (let waited = 0; bookmark < from; waited += LOOK) {
        if (waited > WAIT_MAX) return never();
        await clock.sleep(LOOK);
        bookmark = bookmarkOf(replica.catchUp());
      }
      const results = replica.copy.batch(statements);
      for (const { meta } of results) meta.served_by_primary = false;
      await clock.sleep(WAY * random());
      if (random() < LOST) throw faults.lostError();
      return { results, bookmark };
    },
    stall: () => Math.max(0, stalledUntil - clock.now()),
    stallFor: (milliseconds) => void (stalledUntil = clock.now() + milliseconds),
    close: () => {
      for (const { copy } of replicas) copy.close();
    },
  };
}
