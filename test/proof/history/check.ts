import {
  type Call,
  DELETED,
  format,
  type Observation,
  observationsOf,
  type Rule,
  violation,
  type Violation,
  type Write,
  writesOf,
} from "./calls.ts";

/**
 * Checks the linearizability (Herlihy and Wing 1990) of a history of the Items of one vault: whether a service that applies
 * each write at one moment, and once, can have given these answers. Out: the violations; none if the history is
 * linearizable.
 *
 * The check needs no search, because each version identifies its write: a content is the list of the values that formed it,
 * and each write adds a value of its own, so the last value of a content identifies the write of that version. Without a
 * violation, the calls of each Item have an order in which
 * - each acknowledged write took effect once, at the version in its answer, on the content of the previous version;
 * - the versions were 1, 2, 3…, and a deletion, if there was one, was the last change (a 404 is an observation of it);
 * - each read returned the version that was current at some moment between its request and its answer;
 * - each write of unknown outcome took effect once, at some time after its first request, or never;
 * - a write that was answered as overtaken took effect, as far as its Item has no version of unknown content;
 * - no refused write took effect, and no call got a 412 while the version in `If-Match` was current all the time.
 * Calls with one value are one write (requests with one Idempotency-Key): each of its answers equals the first one.
 * The check detects only what the answers show, so a history should end with a read of every Item.
 */
export function checkHistory(history: readonly Call[]): Violation[] {
  const writes = writesOf(history);
  const byItem = Map.groupBy(observationsOf(history, writes), (observation) => observation.item);
  /** The values of the writes whose version was observed. */
  const observed = new Set<string>();
  const gaps: Gap[] = [];
  const violations = [...checkAnswers(history, writes)];
  for (const [item, observations] of byItem) {
    const refused = history.filter((call) => call.outcome === "precondition failed" && call.item === item);
    violations.push(...checkOrder(item, observations, writes));
    violations.push(...checkVersions(item, observations, writes, observed, gaps));
    violations.push(...checkRefusals(item, observations, refused));
  }
  violations.push(...checkGaps(gaps, writes, observed), ...checkOvertaken(byItem, gaps, writes, observed));
  return violations;
}

/** The first answer to a write shows the state after that write; every later answer to it is the same. */
function* checkAnswers(history: readonly Call[], writes: ReadonlyMap<string, Write>): Iterable<Violation> {
  for (const { value, item, outcome, state, text } of history) {
    if (outcome !== "ok" || value === undefined) continue;
    const first = writes.get(value)!.acknowledged!;
    if (text !== first.text) yield violation("different answers to one write", item, `${value}: ${first.text}, then ${text}`);
    if (state && state.content.at(-1) !== value)
      yield violation("answer of another write", item, `${value}: ${state.content.join(" ")}`);
  }
}

/** Versions do not decrease: a call that starts after an observation of a version does not observe an older version. */
function* checkOrder(
  item: string,
  observations: readonly Observation[],
  writes: ReadonlyMap<string, Write>,
): Iterable<Violation> {
  const byEnd = observations.toSorted((a, b) => a.end - b.end);
  let newest: Observation | undefined;
  let next = 0;
  for (const observation of observations.toSorted((a, b) => a.start - b.start)) {
    for (; byEnd[next]!.end < observation.start; next++) {
      if (!newest || byEnd[next]!.version > newest.version) newest = byEnd[next];
    }
    if (!newest || newest.version <= observation.version) continue;
    const rule = newest.version === DELETED ? "deleted Item is visible again" : "version decreased";
    yield violation(rule, item, `${format(newest)}, then ${format(observation)}`);
  }
  const deletions = [...writes.values()].filter((write) => write.kind === "delete" && write.item === item && write.possible);
  const acknowledged = deletions.filter((write) => write.acknowledged);
  const first = Math.min(...(acknowledged.length > 0 ? acknowledged : deletions).map(({ start }) => start));
  const early = observations.find((observation) => observation.version === DELETED && observation.end < first);
  if (early) yield violation("missing without a deletion", item, format(early));
}

/** A version that must have existed, because a later one was observed, and whose write is unknown. */
interface Gap {
  readonly item: string;
  readonly version: number;
  /** The end of the first observation of this version or of a later one. */
  readonly observedAt: number;
}

/** Each version has one entity tag and one content, which one write made once, after its request, from the content of the previous version. */
function* checkVersions(
  item: string,
  observations: readonly Observation[],
  writes: ReadonlyMap<string, Write>,
  observed: Set<string>,
  gaps: Gap[],
): Iterable<Violation> {
  const contents = new Map<number, Observation>();
  const ends = new Map<number, number>();
  const tags = new Map<number, string>();
  for (const observation of observations) {
    const { version, tag, content, writeValue, end } = observation;
    if (tag !== undefined && tag !== (tags.get(version) ?? tag))
      yield violation("two entity tags of one version", item, format(observation));
    if (tag !== undefined) tags.set(version, tag);
    ends.set(version, Math.min(end, ends.get(version) ?? NEVER));
    const earlier = contents.get(version);
    if (!earlier || (writeValue !== undefined && earlier.writeValue === undefined)) contents.set(version, observation);
    if (!earlier) continue;
    const show = () => `${format(earlier)}, ${format(observation)}`;
    if (writeValue !== undefined && earlier.writeValue !== undefined) yield violation("two writes of one version", item, show());
    else if (!same(earlier.content, content)) yield violation("two contents of one version", item, show());
  }
  let observedAt = ends.get(DELETED) ?? NEVER;
  for (let version = Math.max(0, ...[...ends.keys()].filter((one) => one !== DELETED)); version > 0; version--) {
    observedAt = Math.min(observedAt, ends.get(version) ?? NEVER);
    const observation = contents.get(version);
    if (!observation) {
      gaps.unshift({ item, version, observedAt });
      continue;
    }
    const value = observation.content.at(-1) ?? "";
    const write = writes.get(value);
    const violated = (rule: Rule) => violation(rule, item, `${value || "no value"}: ${format(observation)}`);
    if (!write || write.kind === "delete" || (write.item ?? item) !== item) {
      yield violated("unknown value");
      continue;
    }
    if (observed.has(value)) yield violated("write took effect twice");
    observed.add(value);
    if (!write.possible) yield violated("refused write took effect");
    if (write.start > observedAt) yield violated("observed before its request");
    if (version !== (write.ifMatch ?? version - 1) + 1) yield violated("If-Match ignored");
    // The content of a PATCH contains the previous content, also when no answer showed the previous version.
    const before = observation.content.slice(0, -1);
    if (write.kind === "patch" && version > 1 && !contents.has(version - 1)) {
      contents.set(version - 1, { ...observation, version: version - 1, content: before, tag: undefined, writeValue: undefined });
    }
    const expected = write.kind === "patch" ? contents.get(version - 1)?.content : [];
    if ((write.kind === "create") !== (version === 1) || !same(before, expected))
      yield violated("not based on the previous version");
  }
}

/**
 * Each gap needs a write of unknown outcome whose request was sent before the gap was observed. A write that is early
 * enough for one gap is early enough for all later ones, so the first write that fits is an optimal choice. A write with
 * `If-Match` fits one gap only, so it is preferred.
 */
function* checkGaps(
  gaps: readonly Gap[],
  writes: ReadonlyMap<string, Write>,
  observed: ReadonlySet<string>,
): Iterable<Violation> {
  const free = [...writes.values()].filter((write) => write.possible && !observed.has(write.value));
  for (const { item, version, observedAt } of gaps.toSorted((a, b) => a.observedAt - b.observedAt)) {
    const candidates = free.filter(
      (write) =>
        (write.kind === "create" ? version === 1 && write.item === undefined : write.item === item && version > 1) &&
        write.kind !== "delete" &&
        write.start < observedAt &&
        (write.ifMatch ?? version - 1) === version - 1,
    );
    const chosen = candidates.find((write) => write.ifMatch !== undefined) ?? candidates[0];
    if (chosen) free.splice(free.indexOf(chosen), 1);
    else yield violation("version without a write", item, `version ${version}`);
  }
}

/** A write that was overtaken is in the Item, unless its version was not observed, or the Item was deleted. */
function* checkOvertaken(
  byItem: ReadonlyMap<string, readonly Observation[]>,
  gaps: readonly Gap[],
  writes: ReadonlyMap<string, Write>,
  observed: ReadonlySet<string>,
): Iterable<Violation> {
  for (const { value, item, kind, overtaken } of writes.values()) {
    if (!overtaken || item === undefined || observed.has(value)) continue;
    const hidden = gaps.some((gap) => gap.item === item) || byItem.get(item)?.some(({ version }) => version === DELETED);
    if (kind === "delete" || !hidden) yield violation("overtaken without an effect", item, value);
  }
}

/** A 412 requires that another version than that in `If-Match` was current at some moment of the call. */
function* checkRefusals(item: string, observations: readonly Observation[], refused: readonly Call[]): Iterable<Violation> {
  for (const { start, end, ifMatch } of refused) {
    const current = observations.filter((observation) => observation.version === ifMatch);
    if (!current.some((observation) => observation.end < start)) continue;
    if (!current.some((observation) => observation.start > end)) continue;
    yield violation("refused although If-Match matched", item, `version ${ifMatch} at ${start}–${end}`);
  }
}

const NEVER = Number.POSITIVE_INFINITY;
const same = (a: readonly string[], b: readonly string[] = []) => a.length === b.length && a.every((one, at) => one === b[at]);
