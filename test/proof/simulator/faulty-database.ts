import type { Statement } from "./database.ts";
import type { FaultName } from "./faults.ts";
import { bookmarkOf } from "./replicas.ts";
import { currentServing } from "./serving.ts";
import { never, type World } from "./world.ts";

/** D1 as one Worker or one coordinator reaches it: over a network, and with faults. */

/** Who calls D1. The code of an owner that has ended goes no further. */
export interface Owner {
  readonly name: string;
  readonly hasEnded: () => boolean;
  /** Ends a coordinator in the middle of a call; absent for a Worker. */
  readonly evict?: () => void;
  /** The share of its calls that may have a fault; absent: all. */
  readonly share?: number;
}

/** How a call went wrong: whether and when D1 runs the batch, and what the caller gets. */
interface Course {
  readonly runs: boolean;
  /** Milliseconds before D1 runs the batch, and before its answer arrives. */
  readonly before: number;
  readonly after: number;
  readonly answer: "result" | "lost" | "overloaded" | "nothing";
}

const DEADLINE = 10_000; // src/store/d1/database.ts
const USUAL: Course = { runs: true, before: 0, after: 0, answer: "result" };

const COURSES = {
  "D1 failed before the batch": { ...USUAL, runs: false, answer: "lost" },
  "D1 failed after the batch": { ...USUAL, answer: "lost" },
  "D1 overloaded": { ...USUAL, runs: false, answer: "overloaded" },
  "D1 executed the batch after the deadline": { ...USUAL, before: DEADLINE, answer: "nothing" },
  "D1 answered after the deadline": { ...USUAL, after: DEADLINE },
  "D1 lost the batch": { ...USUAL, runs: false, answer: "nothing" },
} satisfies Partial<Record<FaultName, Course>>;

const D1_FAULTS = Object.keys(COURSES) as (keyof typeof COURSES)[];

/** Milliseconds of one way between two data centers or within one; a batch that is late is late by up to half a minute. */
const WAY = 4;
const LATE = 3;

/** Whether no answer waits for the call: the query for a bookmark (src/store/d1/near-reads.ts). */
const isForLater = ([first]: readonly Statement[]): boolean => first?.sql === "SELECT 1";

export function connectDatabase(world: World, owner: Owner): D1Database {
  const { random, clock, database, faults, plant, trace } = world;

  /** Calls the primary. Out: the results, and the state after them. */
  async function callPrimary(statements: readonly Statement[]): Promise<{ results: D1Result[]; bookmark: string }> {
    if (owner.hasEnded()) return never();
    const stall = world.replicas?.stall() ?? 0;
    const troubles = isForLater(statements) ? undefined : currentServing()?.troubles;
    if (stall > 0) troubles?.add("stall");
    if (stall > 0) await clock.sleep(stall);
    const mayFail = owner.share === undefined || random() < owner.share;
    const fault = mayFail ? (faults.draw(D1_FAULTS) as keyof typeof COURSES | undefined) : undefined;
    if (fault) troubles?.add(fault);
    const course: Course = fault ? COURSES[fault] : USUAL;
    const evicts = owner.evict && faults.draw(["coordinator evicted during a D1 call"]);
    if (evicts) clock.after(3 * WAY * random(), owner.evict);
    await clock.sleep(WAY * random() + course.before * (1 + LATE * random()));
    // D1 runs a batch that was sent, whatever has become of its sender.
    const result = course.runs ? run(statements) : [];
    const bookmark = bookmarkOf(database.writes());
    await clock.sleep(WAY * random() + course.after * (1 + LATE * random()));
    if (course.answer === "nothing" || owner.hasEnded()) return never();
    if (course.answer === "lost") throw faults.lostError();
    if (course.answer === "overloaded") throw faults.overloadedError();
    if (result instanceof Error) throw result;
    return { results: result, bookmark };
  }

  function run(statements: readonly Statement[]): D1Result[] | Error {
    try {
      const results = database.batch(statements);
      trace(`${owner.name} ${statements.length}`);
      return results;
    } catch (error) {
      trace(`${owner.name} ${String(error)}`);
      return error as Error;
    }
  }

  const prepare = (text: string) => {
    const sql = plant.rewrite(text);
    return { sql, values: [], bind: (...values: unknown[]) => ({ sql, values }) };
  };

  const withSession = (constraint: string) => {
    const from = constraint === "first-unconstrained" || plant.ignoresBookmarks ? "" : constraint;
    let bookmark: string | null = null;
    return {
      prepare,
      getBookmark: () => bookmark,
      async batch(statements: readonly Statement[]) {
        const onReplica = world.replicas && constraint !== "first-primary";
        const answer = await (onReplica ? world.replicas!.read(from, statements) : callPrimary(statements));
        if (owner.hasEnded()) return never();
        const serving = currentServing();
        if (onReplica && serving) serving.fromReplicas++;
        bookmark = plant.ignoresBookmarks && onReplica ? [answer.bookmark, constraint].toSorted()[1]! : answer.bookmark;
        return answer.results;
      },
    };
  };
  const batch = async (statements: readonly Statement[]) => (await callPrimary(statements)).results;
  return { prepare, batch, withSession } as unknown as D1Database;
}
