import type { ServedReply } from "./history.ts";
import type { Content, ItemState, PrimaryStates } from "./near-states.ts";
import type { LocalClock } from "./serving.ts";
import { type Rule, type Violation, violation } from "./violations.ts";

/** What the reads of tokens with and without `stale` must show (contract 8.12 to 8.14). */

/** A part of an answer: an Item, and what it shows of its content. */
export interface Part {
  readonly item: string;
  readonly content: Content;
}

/** A read that was answered. */
export interface NearRead {
  readonly client: string;
  /** The method and the path. */
  readonly request: string;
  /** The hash of the token. */
  readonly token: string;
  /** Seconds; `undefined` for a token without it. */
  readonly stale: number | undefined;
  /** When it was sent: the true time, and that of its isolate, in Unix milliseconds. */
  readonly start: number;
  readonly localStart: number;
  readonly reply: ServedReply;
  /** By Item, the number of the state that the client has to be shown at least, because it has seen or written it. */
  readonly least: ReadonlyMap<string, number>;
  /** What a 200 shows, by the D1 call that has read it; `undefined` when the Items are not those that there are. */
  readonly parts: () => readonly (readonly Part[])[] | undefined;
}

export function checkNearReads(reads: readonly NearRead[], states: PrimaryStates): Violation[] {
  const unnoticed = findUnnoticed(reads);
  return reads.flatMap((read) =>
    [...rulesOf(read, states, unnoticed.get(read) ?? 0)].map((rule) => violation(rule, describe(read))),
  );
}

const describe = ({ client, request, start, reply }: NearRead): string => {
  const { status, servedBy, age, failure, serving } = reply;
  return `${client}: ${request} at ${start} for ${reply.time - start} ms: ${status} ${servedBy} ${age} ${failure} ${[...serving.troubles].join()} ${status === 200 && servedBy ? reply.text.slice(0, 600) : ""}`;
};

/** In: milliseconds by which the clock of the isolate has gone back without its notice. */
function* rulesOf(read: NearRead, states: PrimaryStates, unnoticed: number): Iterable<Rule> {
  const { token, stale, start, reply } = read;
  const { status, serving, time } = reply;
  if (stale === undefined && serving.fromReplicas > 0) yield "read of a token without `stale` from a replica";
  if (isRefused(reply)) {
    // Only the primary refuses a token that the same answer has not accepted before.
    const since = reply.isCut ? start - (stale ?? 0) * 1_000 - unnoticed : start;
    if (!states.wasInvalid(token, since, time)) yield "refused although the token was not revoked";
    return;
  }
  if (isUnavailable(reply)) {
    if (serving.troubles.size === 0) yield "unavailable although the primary has answered";
    if (!reply.isCut && reply.retryAfter === null) yield "answer lacks what it must have";
    return;
  }
  const calls = status === 200 ? read.parts() : undefined;
  if (!calls) {
    yield "unexpected answer";
    return;
  }
  const duration = backIn(serving.clock, start, time) > 0 ? time - start : 0;
  const several = calls.length > 1 || serving.fromReplicas > 1;
  const oldest = start - (stale ?? 0) * 1_000 - unnoticed - (several ? duration : 0);
  if (!states.wasValid(token, oldest, time)) yield "accepted although the token was revoked";
  yield* checkHeaders(read);
  const youngest = reply.headersTime - Number(reply.age ?? 0) * 1_000 - unnoticed - duration;
  for (const { item, content } of calls.flat()) {
    const shown = states.of(item, content).filter(({ from }) => from <= time);
    if (shown.length === 0) yield "unexpected answer";
    if (shown.every(({ until }) => until < oldest)) yield "read is older than `stale`";
    if (reply.age !== null && shown.every(({ until }) => until < youngest)) yield "read is older than its age";
    if (shown.every(({ index }) => index < (read.least.get(item) ?? 0))) yield "read goes back behind a bookmark";
  }
  if (!areInOrder(calls, states)) yield "calls of an answer are in no order of states";
}

export const isUnavailable = ({ status, isCut, serving }: ServedReply): boolean =>
  status === 503 || (isCut && serving.troubles.size > 0);

/** A list that is sent in several parts ends where its token is refused. */
export const isRefused = ({ status, isCut, serving }: ServedReply): boolean =>
  status === 401 || (isCut && serving.troubles.size === 0);

function* checkHeaders({ stale, reply: { servedBy, age, bookmark, serving } }: NearRead): Iterable<Rule> {
  const headers = [servedBy, age, bookmark];
  if (stale === undefined) {
    if (headers.some((header) => header !== null)) yield "read of a token without `stale` from a replica";
    return;
  }
  const isTrue = servedBy === (serving.fromReplicas > 0 ? "replica" : "primary");
  // A replica that did not know the token has answered too, but only the primary counts then.
  if (headers.includes(null) || !/^\d+$/.test(age!) || (!isTrue && servedBy !== "primary"))
    yield "answer lacks what it must have";
}

/** Whether each call of an answer shows one state, and none an earlier one than the call before it. */
function areInOrder(calls: readonly (readonly Part[])[], states: PrimaryStates): boolean {
  let earliest = -Infinity;
  for (const parts of calls) {
    const found = parts.map(({ item, content }) => states.of(item, content));
    // A state that a restore has brought back is there at several times.
    const single = found.flatMap((some): readonly ItemState[] => (some.length === 1 ? some : []));
    earliest = Math.max(earliest, ...single.map(({ from }) => from));
    if (single.some(({ until }) => until < earliest)) return false;
  }
  return true;
}

/** By how many milliseconds a clock went back from one time to another one, without the jumps forward. */
const backIn = ({ jumps }: LocalClock, from: number, to: number): number =>
  jumps.reduce((sum, { time, by }) => (time >= from && time <= to && by < 0 ? sum - by : sum), 0);

/**
 * An isolate looks at its clock at the start of each near read. It cannot notice that the clock has gone back when it is still later than at
 * the look before. Out: for each read by how many milliseconds the clock has gone back in this way since it was last noticed.
 */
function findUnnoticed(reads: readonly NearRead[]): ReadonlyMap<NearRead, number> {
  const looks = reads.filter(({ stale, reply }) => stale !== undefined && reply.status !== 401);
  const found = new Map<NearRead, number>();
  for (const [clock, ofClock] of Map.groupBy(looks, ({ reply }) => reply.serving.clock)) {
    let before: NearRead | undefined;
    let unnoticed = 0;
    for (const look of ofClock.toSorted((a, b) => a.start - b.start)) {
      unnoticed += before ? backIn(clock, before.start + 1, look.start) : 0;
      if (before && look.localStart < before.localStart) unnoticed = 0;
      found.set(look, unnoticed);
      before = look;
    }
  }
  return found;
}
