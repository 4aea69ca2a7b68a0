import { type Call, DELETED, format, type Observation, violation, type Violation, type Write } from "./calls.ts";

/**
 * Checks the order of the observations of one Item: versions do not decrease, and an Item is missing from a deletion until it is
 * restored. In: the observations, the writes and the calls of the Item.
 */
export function* checkOrder(
  item: string,
  observations: readonly Observation[],
  writes: readonly Write[],
  calls: readonly Call[],
): Iterable<Violation> {
  const possible = (kind: Write["kind"]) => writes.filter((write) => write.kind === kind && write.possible);
  const [deletions, restores, purges] = [possible("delete"), possible("undelete"), possible("purge")];
  const acknowledged = deletions.filter((write) => write.acknowledged);
  // Without restores there is one deletion.
  const candidates = acknowledged.length > 0 && restores.length === 0 ? acknowledged : deletions;

  const byEnd = observations.toSorted((a, b) => a.end - b.end);
  /** The newest version, and the absence with the last start, that were observed before the current observation. */
  let newest: Observation | undefined;
  let absence: Observation | undefined;
  /** The last start of the observations of an existing Item that ended before. */
  let latest = 0;
  let next = 0;
  for (const observation of observations.toSorted((a, b) => a.start - b.start)) {
    for (; byEnd[next]!.end < observation.start; next++) {
      const ended = byEnd[next]!;
      if (ended.version === DELETED) absence = ended.start > (absence?.start ?? 0) ? ended : absence;
      else {
        latest = Math.max(latest, ended.start);
        if (!newest || ended.version > newest.version) newest = ended;
      }
    }
    if (observation.version === DELETED) {
      const { end } = observation;
      if (!candidates.some((write) => write.start < end && endOf(write) > latest))
        yield violation("missing without a deletion", item, format(observation));
      continue;
    }
    if (newest && newest.version > observation.version && !observation.past)
      yield violation("version decreased", item, `${format(newest)}, then ${format(observation)}`);
    if (absence && !restores.some((write) => mayRestore(write, absence!, observation)))
      yield violation("deleted Item is visible again", item, `${format(absence)}, then ${format(observation)}`);
  }
  yield* checkDeletions(item, acknowledged, restores);
  yield* checkPurges(item, observations, purges);
  yield* checkMissingDeleted(item, observations, calls, restores, purges);
}

const endOf = ({ acknowledged }: Write): number => acknowledged?.end ?? Number.POSITIVE_INFINITY;

/** Whether a restore may explain that an Item was missing and was visible later. */
const mayRestore = (write: Write, absence: Observation, later: Observation): boolean =>
  write.start < later.end &&
  endOf(write) > absence.start &&
  (later.past || (write.acknowledged?.state?.version ?? 0) <= later.version);

/** Between two deletions the Item was restored. */
function* checkDeletions(item: string, acknowledged: readonly Write[], restores: readonly Write[]): Iterable<Violation> {
  const byEnd = acknowledged.toSorted((a, b) => endOf(a) - endOf(b));
  for (const [n, write] of byEnd.entries()) {
    const before = byEnd[n - 1];
    if (!before) continue;
    const first = Math.min(before.start, write.start);
    const restored = restores.some((one) => one.start < endOf(write) && endOf(one) > first);
    if (!restored || n > restores.length) yield violation("two deletions of one Item", item, `${before.value}, ${write.value}`);
  }
}

/** A deleted Item that was destroyed stays missing. */
function* checkPurges(item: string, observations: readonly Observation[], purges: readonly Write[]): Iterable<Violation> {
  const end = Math.min(...purges.map(endOf));
  const late = observations.find(({ version, start }) => version !== DELETED && start > end);
  if (late) yield violation("destroyed Item is visible again", item, format(late));
}

/** An Item that was deleted can be restored, unless it was restored or destroyed meanwhile. */
function* checkMissingDeleted(
  item: string,
  observations: readonly Observation[],
  calls: readonly Call[],
  restores: readonly Write[],
  purges: readonly Write[],
): Iterable<Violation> {
  const absences = observations.filter(({ version }) => version === DELETED);
  for (const { kind, outcome, start, end } of calls) {
    if (outcome !== "not found" || (kind !== "undelete" && kind !== "purge")) continue;
    if (purges.some((write) => write.start < end)) continue;
    const before = Math.max(0, ...absences.filter((one) => one.end < start).map((one) => one.start));
    const after = Math.min(...absences.filter((one) => one.start > end).map((one) => one.end));
    if (before === 0 || after === Number.POSITIVE_INFINITY) continue;
    const restored = restores.some((write) => write.start < after && endOf(write) > before);
    if (!restored) yield violation("deleted Item is not kept", item, `${kind} at ${start}–${end}`);
  }
}
