import { accuse, type Call, GONE, type Rule, show, type Sight, sightsOf, type Violation, type Write, writesOf } from "./facts.ts";

/**
 * Judges what concurrent clients saw of the Items of one vault: can a service have shown them that which did each write
 * at one moment, and once?
 *
 * It proves linearizability (Herlihy and Wing 1990), and without a search, because each version names its write: a
 * content is the list of the values that built it, each write brings a value of its own, so the last value of a content
 * tells who wrote that version. When it accuses nobody, then for each Item its calls can be put into an order in which
 * - each acknowledged write took effect once, at the version that it was told, upon the content of the version before;
 * - the versions were 1, 2, 3… and then, perhaps, the Item was deleted and stayed so (a 404 is a sight of that);
 * - each read saw what was the current version at some moment between its request and its answer;
 * - each write of unknown outcome took effect once, at some time after its first request, or never;
 * - what was refused took no effect, and no 412 came though the version that `If-Match` named was there all the time.
 * Calls with one value are one write (attempts with one Idempotency-Key): each of its answers is the first one again.
 * What nobody saw, it cannot judge: it knows only what was answered. So let a history end with a read of every Item.
 */
export function checkHistory(history: readonly Call[]): Violation[] {
  const writes = writesOf(history);
  const sights = Map.groupBy(sightsOf(history, writes), (sight) => sight.item);
  /** The writes whose version somebody saw. */
  const placed = new Set<string>();
  const gaps: Gap[] = [];
  const violations = [...checkAnswers(history, writes)];
  for (const [item, some] of sights) {
    const stale = history.filter((call) => call.outcome === "stale" && call.item === item);
    violations.push(...checkTime(item, some, writes));
    violations.push(...checkVersions(item, some, writes, placed, gaps));
    violations.push(...checkRefusals(item, some, stale));
  }
  violations.push(...checkGaps(gaps, writes, placed));
  return violations;
}

/** The first answer to a write tells of this write; every other one is the same. */
function* checkAnswers(history: readonly Call[], writes: ReadonlyMap<string, Write>): Iterable<Violation> {
  for (const { value, item, outcome, seen, text } of history) {
    if (outcome !== "ok" || value === undefined) continue;
    const first = writes.get(value)!.acknowledged!;
    if (text !== first.text) yield accuse("another answer to the same write", item, `${value}: ${first.text}, then ${text}`);
    if (seen && seen.content.at(-1) !== value)
      yield accuse("the answer to another write", item, `${value}: ${seen.content.join(" ")}`);
  }
}

/** Nothing goes back: what starts after a version was seen sees no older one. */
function* checkTime(item: string, sights: readonly Sight[], writes: ReadonlyMap<string, Write>): Iterable<Violation> {
  const ended = sights.toSorted((a, b) => a.end - b.end);
  let newest: Sight | undefined;
  let next = 0;
  for (const sight of sights.toSorted((a, b) => a.start - b.start)) {
    for (; ended[next]!.end < sight.start; next++) {
      if (!newest || ended[next]!.version > newest.version) newest = ended[next];
    }
    if (!newest || newest.version <= sight.version) continue;
    yield accuse(newest.version === GONE ? "back from the dead" : "went back", item, `${show(newest)}, then ${show(sight)}`);
  }
  const deletions = [...writes.values()].filter((write) => write.kind === "delete" && write.item === item && write.possible);
  const done = deletions.filter(({ acknowledged }) => acknowledged);
  const first = Math.min(...(done.length > 0 ? done : deletions).map(({ start }) => start));
  const early = sights.find((sight) => sight.version === GONE && sight.end < first);
  if (early) yield accuse("gone, and nobody deleted it", item, show(early));
}

/** A version that must have been, and of which nobody knows who wrote it. */
interface Gap {
  readonly item: string;
  readonly version: number;
  /** When it, or a later one, was seen first. */
  readonly seen: number;
}

/** Each version has one content, made by one write, once, in its time, from the content of the version before. */
function* checkVersions(
  item: string,
  sights: readonly Sight[],
  writes: ReadonlyMap<string, Write>,
  placed: Set<string>,
  gaps: Gap[],
): Iterable<Violation> {
  const contents = new Map<number, Sight>();
  const ends = new Map<number, number>();
  for (const sight of sights) {
    const { version, content, by, end } = sight;
    ends.set(version, Math.min(end, ends.get(version) ?? NEVER));
    const known = contents.get(version);
    if (!known || (by !== undefined && known.by === undefined)) contents.set(version, sight);
    if (!known) continue;
    if (by !== undefined && known.by !== undefined)
      yield accuse("two writes at one version", item, `${show(known)}, ${show(sight)}`);
    else if (!same(known.content, content)) yield accuse("two contents of one version", item, `${show(known)}, ${show(sight)}`);
  }
  let seen = ends.get(GONE) ?? NEVER;
  for (let version = Math.max(0, ...[...ends.keys()].filter((one) => one !== GONE)); version > 0; version--) {
    seen = Math.min(seen, ends.get(version) ?? NEVER);
    const sight = contents.get(version);
    if (!sight) {
      gaps.unshift({ item, version, seen });
      continue;
    }
    const value = sight.content.at(-1) ?? "";
    const write = writes.get(value);
    const blame = (rule: Rule) => accuse(rule, item, `${value || "nobody"}: ${show(sight)}`);
    if (!write || write.kind === "delete" || (write.item ?? item) !== item) {
      yield blame("a value from nowhere");
      continue;
    }
    if (placed.has(value)) yield blame("a second effect of one write");
    placed.add(value);
    if (!write.possible) yield blame("the effect of a refused write");
    if (write.start > seen) yield blame("out of its time");
    if (version !== (write.ifMatch ?? version - 1) + 1) yield blame("past its If-Match");
    // What a write was built upon is known from its own content, though nobody saw it.
    const before = sight.content.slice(0, -1);
    if (write.kind === "patch" && version > 1 && !contents.has(version - 1)) {
      contents.set(version - 1, { ...sight, version: version - 1, content: before, by: undefined });
    }
    const expected = write.kind === "patch" ? contents.get(version - 1)?.content : [];
    if ((write.kind === "create") !== (version === 1) || !same(before, expected)) yield blame("not built on the version before");
  }
}

/**
 * Each gap needs a write of unknown outcome that was asked for in time. What is early enough for one gap is so for all
 * later ones, so taking the first that fits is as good as any choice; what named its version fits only there, and goes first.
 */
function* checkGaps(gaps: readonly Gap[], writes: ReadonlyMap<string, Write>, placed: ReadonlySet<string>): Iterable<Violation> {
  const free = [...writes.values()].filter((write) => write.possible && !placed.has(write.value));
  for (const { item, version, seen } of gaps.toSorted((a, b) => a.seen - b.seen)) {
    const fits = free.filter(
      (write) =>
        (write.kind === "create" ? version === 1 && write.item === undefined : write.item === item && version > 1) &&
        write.kind !== "delete" &&
        write.start < seen &&
        (write.ifMatch ?? version - 1) === version - 1,
    );
    const taken = fits.find((write) => write.ifMatch !== undefined) ?? fits[0];
    if (taken) free.splice(free.indexOf(taken), 1);
    else yield accuse("a version that nobody wrote", item, `version ${version}`);
  }
}

/** A 412 says that the version was another at some moment. */
function* checkRefusals(item: string, sights: readonly Sight[], stale: readonly Call[]): Iterable<Violation> {
  for (const { start, end, ifMatch } of stale) {
    const current = sights.filter((sight) => sight.version === ifMatch);
    if (!current.some((sight) => sight.end < start) || !current.some((sight) => sight.start > end)) continue;
    yield accuse("refused, though its If-Match was right", item, `version ${ifMatch} at ${start}–${end}`);
  }
}

const NEVER = Number.POSITIVE_INFINITY;
const same = (a: readonly string[], b: readonly string[] = []) => a.length === b.length && a.every((one, at) => one === b[at]);
