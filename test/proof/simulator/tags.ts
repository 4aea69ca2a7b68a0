import type { Effect } from "./database.ts";
import type { Call, History } from "./history.ts";
import { type Violation, violation } from "./violations.ts";

/**
 * What the entity tags in the answers stand for. An Item that was destroyed and made again under its id begins with version 1 again
 * (contract 10.24), so a version is identified by its number and by how many times the Item had been made before.
 */
export interface Tags {
  /** Whether the version of an Item at a tick may be the one that an answer showed with this tag. */
  readonly mayMatch: (item: string, tag: string, version: number | undefined, tick: number) => boolean;
  /** Whether it is certainly that one: an answer to a request during which the Item was made again may show either version 1. */
  readonly mustMatch: (item: string, tag: string, version: number | undefined, tick: number) => boolean;
}

/** In `first` and `last`, how many times the Item had been made when the version was shown. */
interface Tagged {
  readonly version: number;
  readonly first: number;
  readonly last: number;
}

/** Reads the tags out of the answers. In: the calls by the ids of their operations. `violations` gets the tags that name two versions. */
export function readTags(
  history: History,
  effects: readonly Effect[],
  calls: ReadonlyMap<string, Call>,
  violations: Violation[],
): Tags {
  const creations = Map.groupBy(
    effects.filter(({ id }) => calls.get(id)?.write?.kind === "create"),
    ({ item }) => item,
  );
  const made = (item: string, until: number): number => (creations.get(item) ?? []).filter(({ tick }) => tick <= until).length;
  const moments = new Map(effects.map(({ id, tick }) => [calls.get(id), tick]));
  const tagged = new Map<string, Tagged>();
  for (const call of history.calls) {
    const { reply } = call;
    if (!reply?.tag || reply.body?.version === undefined) continue;
    const { id, version } = reply.body as { id: string; version: number };
    const name = `${id} ${reply.tag}`;
    const known = tagged.get(name) ?? { version, first: 0, last: Infinity };
    if (known.version !== version) violations.push(violation("one entity tag of two versions", name));
    // A write that took effect shows its own version, and every other answer one that was current during its request.
    const [start, end] = [moments.get(call) ?? call.start, moments.get(call) ?? call.end];
    tagged.set(name, { version, first: Math.max(known.first, made(id, start)), last: Math.min(known.last, made(id, end)) });
  }
  const mayMatch: Tags["mayMatch"] = (item, tag, version, tick) => {
    const known = tagged.get(`${item} ${tag}`);
    const count = made(item, tick);
    return known !== undefined && known.version === version && known.first <= count && count <= known.last;
  };
  const mustMatch: Tags["mustMatch"] = (item, tag, version, tick) => {
    const { first, last } = tagged.get(`${item} ${tag}`) ?? { first: 0, last: 0 };
    return mayMatch(item, tag, version, tick) && first === last;
  };
  return { mayMatch, mustMatch };
}
