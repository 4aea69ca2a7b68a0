import { type Call, DELETED, type Observation, violation, type Violation, type Write } from "./calls.ts";

/**
 * Checks which versions of one Item the answers show: those that are kept are the newest ones that were not destroyed, and a
 * version that is gone stays gone. In: the observations, the writes and the calls of the Item, and how many earlier versions it
 * keeps.
 */
export function* checkKept(
  item: string,
  observations: readonly Observation[],
  writes: readonly Write[],
  calls: readonly Call[],
  versionsKept: number,
): Iterable<Violation> {
  const visible = observations.filter(({ version, past }) => version !== DELETED && !past);
  const destroys = writes.filter(({ kind, possible }) => kind === "destroy" && possible);
  const purged = Math.min(...writes.flatMap(({ kind, acknowledged }) => (kind === "purge" ? (acknowledged?.end ?? []) : [])));
  /** The version that was current at least, at a time. */
  const newestAt = (time: number) => Math.max(0, ...visible.filter(({ end }) => end < time).map(({ version }) => version));
  const mayBeDestroyed = (version: number, end: number) =>
    destroys.some(({ source, start }) => source === version && start < end);

  /** When each version was gone at the latest. */
  const gone = new Map<number, number>();
  const lose = (version: number, end: number) => gone.set(version, Math.min(end, gone.get(version) ?? Number.POSITIVE_INFINITY));
  const reads = calls.filter(({ kind }) => kind === "look" || kind === "versions");
  for (const call of calls) {
    const { kind, source, outcome, start, end, state, kept } = call;
    if (kind === "destroy" && outcome === "ok") lose(source!, end);
    if (outcome === "version not found" && source! <= newestAt(start)) lose(source!, end);
    if (kept) for (let version = state!.version - 1; version > 0; version--) if (!kept.includes(version)) lose(version, end);
  }

  for (const call of calls) {
    const { source, outcome, start, end } = call;
    if (outcome !== "version not found" || source! > newestAt(start)) continue;
    const most = Math.min(...visible.filter((one) => one.start > end).map(({ version }) => version));
    if (source! >= most - versionsKept && !mayBeDestroyed(source!, end))
      yield violation("kept version is missing", item, show(call));
  }
  for (const call of reads) {
    const { kind, source, outcome, start, end, state, kept = [] } = call;
    if (outcome !== "ok") continue;
    const shown = kind === "look" ? [source!] : kept;
    const again = shown.find((version) => (gone.get(version) ?? Number.POSITIVE_INFINITY) < start);
    if (again !== undefined) yield violation("gone version is visible again", item, show(call));
    if (purged < start) yield violation("destroyed Item is visible again", item, show(call));
    if (kind !== "versions") continue;
    if (kept.length > versionsKept) yield violation("too many versions", item, show(call));
    const oldest = Math.min(state!.version - versionsKept, ...kept);
    for (let version = state!.version - 1; version >= Math.max(1, oldest); version--) {
      if (!kept.includes(version) && !mayBeDestroyed(version, end)) yield violation("kept version is missing", item, show(call));
    }
  }
  for (const { kind, source, start, acknowledged } of writes) {
    if (kind !== "restore" || !acknowledged || (gone.get(source!) ?? Number.POSITIVE_INFINITY) >= start) continue;
    yield violation("gone version is visible again", item, show(acknowledged));
  }
}

const show = ({ kind, source, kept, start, end }: Call): string => `${kind} ${source ?? kept?.join()} at ${start}–${end}`;
