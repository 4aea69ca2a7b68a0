import { type Call, GONE, type Rule } from "./facts.ts";
import { type Answer, type Asked, carryOut, current, KEPT, type Lie, type World } from "./ideal.ts";

/** What a store may tell that is not so. */

const kept = ({ items }: World) => items.get(KEPT)!;
const isWrite = (kind: Call["kind"]) => kind === "put" || kind === "patch";
const acknowledged = ({ history }: World) =>
  history.filter((call) => call.item === KEPT && isWrite(call.kind) && call.outcome === "ok");
/** The newest version that was seen before a time. */
const seenBefore = ({ history }: World, time: number) =>
  Math.max(0, ...history.filter((call) => call.item === KEPT && call.end < time).map((call) => call.seen?.version ?? 0));
/** Whether a call is a write to the kept Item that was not sent before. */
const isFresh = ({ kind, item, value }: Asked, { history }: World) =>
  item === KEPT && isWrite(kind) && !history.some((call) => call.value === value);
const showing = (version: number, content: readonly string[]): Answer => ({ outcome: "ok", seen: { version, content } });

/** Each with the rules of which it breaks at least one. */
export const LIES: readonly (readonly [name: string, rules: readonly Rule[], lie: Lie])[] = [
  [
    "a stale read",
    ["went back"],
    ({ kind, item, start }, world) => {
      const version = seenBefore(world, start) - 1;
      return kind === "read" && item === KEPT && version > 0 ? showing(version, kept(world).contents[version - 1]!) : undefined;
    },
  ],
  [
    "a read of what is yet to be written",
    ["a value from nowhere", "two contents of one version", "went back", "out of its time"],
    ({ kind, item }, world) => {
      const { version, content } = current(kept(world));
      return kind === "read" && item === KEPT ? showing(version + 1, [...content, "not yet"]) : undefined;
    },
  ],
  [
    "a value from nowhere",
    ["a value from nowhere", "two contents of one version"],
    ({ kind, item }, world) => {
      const { version, content } = current(kept(world));
      return kind === "read" && item === KEPT ? showing(version, [...content.slice(0, -1), "nobody's"]) : undefined;
    },
  ],
  [
    "a lost write",
    ["went back", "two writes at one version", "two contents of one version", "not built on the version before"],
    (asked, world) => {
      if (!isFresh(asked, world)) return undefined;
      const answer = carryOut(asked, world);
      if (answer.outcome === "ok") kept(world).contents.pop();
      return answer.outcome === "ok" ? answer : undefined;
    },
  ],
  [
    "a write upon an older content than the last, at a new version",
    ["not built on the version before", "a second effect of one write"],
    (asked, world) => {
      const { contents } = kept(world);
      if (!isFresh(asked, world) || asked.kind !== "patch" || asked.ifMatch !== undefined || contents.length < 3)
        return undefined;
      contents.push([...contents.at(-2)!, asked.value!]);
      return showing(contents.length, contents.at(-1)!);
    },
  ],
  [
    "a duplicate version",
    ["two writes at one version"],
    (asked, world) => {
      const { contents } = kept(world);
      if (!isFresh(asked, world) || asked.kind !== "patch" || asked.ifMatch !== undefined) return undefined;
      if (acknowledged(world).at(-1)?.seen!.version !== contents.length) return undefined;
      contents.splice(-1, 1, [...contents.at(-2)!, asked.value!]);
      return showing(contents.length, contents.at(-1)!);
    },
  ],
  [
    "a version left out",
    ["a version that nobody wrote"],
    (asked, world) => {
      if (!isFresh(asked, world) || asked.kind !== "put" || asked.ifMatch !== undefined) return undefined;
      // One more than the writes of unknown outcome could have made.
      const doubtful = world.history.filter(({ outcome }) => outcome === "unknown").map(() => ["?"]);
      kept(world).contents.push(["?"], ...doubtful, [asked.value!]);
      return showing(kept(world).contents.length, [asked.value!]);
    },
  ],
  [
    "reordered answers",
    ["the answer to another write"],
    (asked, world) => {
      const before = acknowledged(world).at(-1);
      if (!isFresh(asked, world) || !before) return undefined;
      const answer = carryOut(asked, world);
      if (answer.outcome !== "ok") return undefined;
      const { seen } = before;
      before.seen = answer.seen;
      return { ...answer, seen };
    },
  ],
  [
    "a resurrection",
    ["back from the dead", "another answer to the same write", "two writes at one version", "out of its time"],
    (asked, world) => {
      const stored = world.items.get(asked.item ?? "");
      const deleted = world.history.some(
        ({ item, kind, outcome, end }) => item === asked.item && kind === "delete" && outcome === "ok" && end < asked.start,
      );
      if (!stored?.gone || !deleted || asked.kind === "delete") return undefined;
      stored.gone = false;
      const answer = carryOut(asked, world);
      return answer.outcome === "ok" ? answer : undefined;
    },
  ],
  [
    "a 404 of what nobody deleted",
    ["gone, and nobody deleted it"],
    ({ item }) => (item === KEPT ? { outcome: "gone" } : undefined),
  ],
  [
    "a second effect of a key",
    ["a second effect of one write"],
    (asked, world) => {
      const repeated = acknowledged(world).find(({ value }) => value === asked.value);
      if (!repeated || asked.kind !== "patch") return undefined;
      carryOut({ ...asked, ifMatch: undefined }, world);
      return { outcome: "ok", seen: repeated.seen };
    },
  ],
  [
    "another answer to a key",
    ["another answer to the same write"],
    (asked, world) => {
      const repeated = acknowledged(world).find(({ value }) => value === asked.value);
      const now = current(kept(world));
      return repeated && repeated.seen!.version < now.version ? { outcome: "ok", seen: now } : undefined;
    },
  ],
  [
    "a 412 that took effect",
    ["the effect of a refused write"],
    (asked, world) => {
      if (!isFresh(asked, world)) return undefined;
      return carryOut({ ...asked, ifMatch: undefined }, world).outcome === "ok" ? { outcome: "stale" } : undefined;
    },
  ],
  [
    "a write past its If-Match",
    ["past its If-Match"],
    (asked, world) => {
      if (!isFresh(asked, world) || (asked.ifMatch ?? GONE) >= current(kept(world)).version) return undefined;
      return carryOut({ ...asked, ifMatch: undefined }, world);
    },
  ],
];
