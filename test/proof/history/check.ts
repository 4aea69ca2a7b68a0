import {
  type Call,
  DELETED,
  format,
  hasValue,
  isCopy,
  type Observation,
  observationsOf,
  type Rule,
  violation,
  type Violation,
  type Write,
  writesOf,
} from "./calls.ts";
import { checkKept } from "./check-kept.ts";
import { checkOrder } from "./check-order.ts";

/**
 * Checks the linearizability (Herlihy and Wing 1990) of a history of the Items of one vault: whether a service that applies
 * each write at one moment, and once, can have given these answers. Out: the violations; none if the history is
 * linearizable.
 *
 * The check needs no search, because each version identifies its write: a content is the list of the values that formed it,
 * and each write adds a value of its own, so the last value of a content identifies the write of that version. A version with
 * the content of an earlier one is a copy: that of a `restore` or `undelete`. Without a violation, the calls of each Item have an
 * order in which
 * - each acknowledged write took effect once, at the version in its answer, on the content of the previous version;
 * - the versions were 1, 2, 3…; after a deletion the Item was missing until it was restored as its next version (check-order.ts);
 * - the kept versions were the newest ones that were not destroyed, with the contents that they had (check-kept.ts);
 * - each read returned the version that was current at some moment between its request and its answer;
 * - each write of unknown outcome took effect once, at some time after its first request, or never;
 * - a write that was answered as overtaken took effect, as far as its Item has no version of unknown content;
 * - no refused write took effect, and no call got a 412 while the version in `If-Match` was current all the time.
 * Calls with one value are one write (requests with one Idempotency-Key): each of its answers equals the first one.
 * The check detects only what the answers show, so a history should end with a read of every Item.
 * In: how many earlier versions an Item keeps.
 */
export function checkHistory(history: readonly Call[], versionsKept = 10): Violation[] {
  const writes = writesOf(history);
  const byItem = Map.groupBy(observationsOf(history, writes), (observation) => observation.item);
  /** The values of the writes whose version was observed. */
  const observed = new Set<string>();
  const gaps: Gap[] = [];
  const violations = [...checkAnswers(history, writes)];
  const calls = Map.groupBy(history, ({ item }) => item);
  for (const [item, observations] of byItem) {
    const ofItem = [...writes.values()].filter((write) => write.item === item);
    const ofCalls = calls.get(item) ?? [];
    const refused = ofCalls.filter((call) => call.outcome === "precondition failed");
    violations.push(...checkOrder(item, observations, ofItem, ofCalls));
    violations.push(...checkVersions(item, observations, writes, observed, gaps));
    violations.push(...checkKept(item, observations, ofItem, ofCalls, versionsKept));
    violations.push(...checkRefusals(item, observations, refused));
  }
  violations.push(...checkGaps(gaps, writes, observed), ...checkOvertaken(byItem, gaps, writes, observed));
  return violations;
}

/** The first answer to a write shows the state after that write; every later answer to it is the same. */
function* checkAnswers(history: readonly Call[], writes: ReadonlyMap<string, Write>): Iterable<Violation> {
  for (const { value, item, outcome, state, text } of history) {
    if (outcome !== "ok" || value === undefined) continue;
    const write = writes.get(value)!;
    const first = write.acknowledged!;
    if (text !== first.text) yield violation("different answers to one write", item, `${value}: ${first.text}, then ${text}`);
    if (state && hasValue(write) && state.content?.at(-1) !== value)
      yield violation("answer of another write", item, `${value}: ${state.content?.join(" ")}`);
  }
}

/** A version that must have existed, because a later one was observed, and whose write is unknown. */
interface Gap {
  readonly item: string;
  readonly version: number;
  /** The end of the first observation of this version or of a later one. */
  readonly observedAt: number;
  /** Of a version whose content is that of an earlier one, so that its write is a copy. */
  readonly copied?: readonly string[];
  /** Of a version that this write made, unless it is a copy of the version before it, whose content is not known. */
  readonly either?: Write;
  /** The known contents of the Item. */
  readonly contents: ReadonlyMap<number, Observation>;
  readonly violation: Rule;
}

/**
 * Each version has one entity tag and one content, which one write made once, after its request, from the content of the previous
 * version, or from that which it restores.
 */
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
    if (content === undefined || version === DELETED) continue;
    const earlier = contents.get(version);
    if (!earlier || (writeValue !== undefined && earlier.writeValue === undefined)) contents.set(version, observation);
    if (!earlier) continue;
    const show = () => `${format(earlier)}, ${format(observation)}`;
    if (writeValue !== undefined && earlier.writeValue !== undefined) yield violation("two writes of one version", item, show());
    else if (!same(earlier.content!, content)) yield violation("two contents of one version", item, show());
  }
  const originals = originalsOf(contents, writes);
  const undeletes = [...writes.values()].filter((write) => write.item === item && write.kind === "undelete" && write.possible);
  let observedAt = undeletes.length > 0 ? NEVER : (ends.get(DELETED) ?? NEVER);
  for (let version = Math.max(0, ...[...ends.keys()].filter((one) => one !== DELETED)); version > 0; version--) {
    observedAt = Math.min(observedAt, ends.get(version) ?? NEVER);
    const observation = contents.get(version);
    const gap = { item, version, observedAt, contents };
    if (!observation) {
      gaps.unshift({ ...gap, violation: "version without a write" });
      continue;
    }
    const content = observation.content!;
    const own = writes.get(observation.writeValue ?? "");
    const value = own && isCopy(own) ? own.value : (content.at(-1) ?? "");
    const write = writes.get(value);
    const violated = (rule: Rule) => violation(rule, item, `${value || "no value"}: ${format(observation)}`);
    if (!write || !(hasValue(write) || isCopy(write)) || (write.item ?? item) !== item) {
      yield violated("unknown value");
      continue;
    }
    if (!write.possible) yield violated("refused write took effect");
    if (!isCopy(write) && version > (originals.get(value) ?? version)) {
      const known = write.ifMatch === undefined || contents.get(write.ifMatch + 1)?.content?.at(-1) === value;
      const rule = write.kind === "create" ? "not based on the previous version" : known ? "write took effect twice" : undefined;
      gaps.unshift({ ...gap, copied: content, violation: rule ?? "If-Match ignored" });
      continue;
    }
    const known = write.acknowledged ?? write.ifMatch;
    if (known === undefined && version > 1 && !contents.has(version - 1) && undeletes.some((one) => !one.acknowledged)) {
      gaps.unshift({ ...gap, either: write, violation: "version without a write" });
      continue;
    }
    if (observed.has(value)) yield violated("write took effect twice");
    observed.add(value);
    if (write.start > observedAt) yield violated("observed before its request");
    if (version !== (write.ifMatch ?? version - 1) + 1) yield violated("If-Match ignored");
    if (isCopy(write)) {
      const from = write.kind === "restore" ? write.source! : version - 1;
      const source = contents.get(from);
      if (from >= version || (source && !same(source.content!, content))) yield violated("restored another content");
      else if (!source) contents.set(from, inferred(observation, from, content));
      continue;
    }
    // The content of a PATCH contains the previous content, also when no answer showed the previous version.
    const before = content.slice(0, -1);
    if (write.kind === "patch" && version > 1 && !contents.has(version - 1))
      contents.set(version - 1, inferred(observation, version - 1, before));
    const expected = write.kind === "patch" ? contents.get(version - 1)?.content : [];
    if ((write.kind === "create") !== (version === 1) || !same(before, expected))
      yield violated("not based on the previous version");
  }
}

const inferred = (from: Observation, version: number, content: readonly string[]): Observation => ({
  ...from,
  version,
  content,
  tag: undefined,
  writeValue: undefined,
});

/** The versions that the writes with these values made; later versions whose contents end with them are copies. */
function originalsOf(
  contents: ReadonlyMap<number, Observation>,
  writes: ReadonlyMap<string, Write>,
): ReadonlyMap<string, number> {
  const originals = new Map<string, number>();
  for (const [version, { content, writeValue }] of contents) {
    const value = content!.at(-1) ?? "";
    const write = writes.get(value);
    const own = writeValue === value ? version : write?.kind === "create" ? 1 : write?.ifMatch && write.ifMatch + 1;
    originals.set(value, own ?? Math.min(version, originals.get(value) ?? version));
  }
  return originals;
}

/**
 * Each gap needs a write of unknown outcome whose request was sent before the gap was observed: no other gap has the same one.
 * A maximum matching of gaps and writes, by augmenting paths.
 */
function* checkGaps(
  gaps: readonly Gap[],
  writes: ReadonlyMap<string, Write>,
  observed: ReadonlySet<string>,
): Iterable<Violation> {
  const free = [...writes.values()].filter((write) => write.possible && !observed.has(write.value));
  const gapOf = new Map<Write, Gap>();
  const match = (gap: Gap, tried: Set<Write>): boolean => {
    for (const write of free) {
      if (tried.has(write) || !mayFill(gap, write)) continue;
      tried.add(write);
      const other = gapOf.get(write);
      if (other && !match(other, tried)) continue;
      gapOf.set(write, gap);
      return true;
    }
    return false;
  };
  for (const gap of gaps.toSorted((a, b) => a.observedAt - b.observedAt)) {
    if (!match(gap, new Set())) yield violation(gap.violation, gap.item, `version ${gap.version}`);
  }
}

function mayFill({ item, version, observedAt, copied, either, contents }: Gap, write: Write): boolean {
  const { kind, ifMatch, source, start } = write;
  if (either && write !== either && kind !== "undelete") return false;
  if (start >= observedAt || (ifMatch ?? version - 1) !== version - 1) return false;
  if (kind === "create") return copied === undefined && version === 1 && write.item === undefined;
  if (write.item !== item || version === 1) return false;
  if (!isCopy(write)) return copied === undefined && hasValue(write);
  const from = kind === "restore" ? source! : version - 1;
  const content = contents.get(from)?.content;
  // An answer has shown the content that a `restore` copies.
  if (from >= version || (kind === "restore" && content === undefined)) return false;
  return copied === undefined || content === undefined || same(content, copied);
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
    if (kind === "delete" || (hasValue({ kind }) && !hidden)) yield violation("overtaken without an effect", item, value);
  }
}

/** A 412 requires that another version than that in `If-Match` was current at some moment of the call. */
function* checkRefusals(item: string, observations: readonly Observation[], refused: readonly Call[]): Iterable<Violation> {
  for (const { start, end, ifMatch } of refused) {
    const current = observations.filter((observation) => observation.version === ifMatch && !observation.past);
    if (!current.some((observation) => observation.end < start)) continue;
    if (!current.some((observation) => observation.start > end)) continue;
    yield violation("refused although If-Match matched", item, `version ${ifMatch} at ${start}–${end}`);
  }
}

const NEVER = Number.POSITIVE_INFINITY;
const same = (a: readonly string[], b: readonly string[] = []) => a.length === b.length && a.every((one, at) => one === b[at]);
