/** What concurrent clients asked of the Items of one vault, and what they were answered. check.ts judges it. */

/** What a call does: makes an Item with a value, sets its content to a value, adds a value to it, ends it; or only looks. */
export type Kind = "create" | "put" | "patch" | "delete" | "read";

/** `gone` is a 404 for the Item, `stale` a 412: they took no effect, as `refused`. Whether `unknown` did, nobody can tell. */
export type Outcome = "ok" | "gone" | "stale" | "refused" | "unknown";

/** One request and its answer. The times are ticks of one clock: no two are alike. */
export interface Call {
  readonly kind: Kind;
  /** Absent when a creation got no answer. */
  readonly item?: string | undefined;
  /** Every write has one of its own, and keeps it when it is sent again with its Idempotency-Key. A read has none. */
  readonly value?: string | undefined;
  readonly ifMatch?: number | undefined;
  readonly start: number;
  readonly end: number;
  readonly outcome: Outcome;
  /** What the answer showed; absent after a deletion. */
  readonly seen?: { readonly version: number; readonly content: readonly string[] } | undefined;
  /** The answer to a write, byte for byte. */
  readonly text?: string | undefined;
}

/** The calls of one value. */
export interface Write extends Pick<Call, "kind" | "item" | "ifMatch" | "start"> {
  readonly value: string;
  /** The first that was answered. */
  readonly acknowledged: Call | undefined;
  /** Whether it may have taken effect. */
  readonly possible: boolean;
}

/** The version that a deletion makes. */
export const GONE = Number.POSITIVE_INFINITY;

/** At some moment from `start` to `end` this was the current version. */
export interface Sight {
  readonly item: string;
  readonly version: number;
  /** Empty when it is gone. */
  readonly content: readonly string[];
  readonly start: number;
  readonly end: number;
  /** The value of the write that was told so. */
  readonly by: string | undefined;
}

export type Rule =
  | "went back" // also: an acknowledged write that is not there
  | "back from the dead"
  | "gone, and nobody deleted it"
  | "a version that nobody wrote"
  | "not built on the version before"
  | "two writes at one version"
  | "two contents of one version"
  | "a second effect of one write"
  | "another answer to the same write"
  | "the answer to another write"
  | "a value from nowhere"
  | "out of its time" // seen before it was asked for
  | "the effect of a refused write"
  | "past its If-Match"
  | "refused, though its If-Match was right";

export interface Violation {
  readonly rule: Rule;
  readonly item: string;
  readonly detail: string;
}

export const accuse = (rule: Rule, item = "?", detail = ""): Violation => ({ rule, item, detail });

export const show = ({ version, content, start, end }: Sight): string =>
  `version ${version} [${content.join(" ")}] seen in ${start}–${end}`;

/** Which rules say that a write was lost, and which that one took effect twice. */
export const LOST: ReadonlySet<Rule> = new Set<Rule>([
  "went back",
  "back from the dead",
  "gone, and nobody deleted it",
  "a version that nobody wrote",
  "not built on the version before",
  "two writes at one version",
]);
export const DOUBLED: ReadonlySet<Rule> = new Set<Rule>(["a second effect of one write", "another answer to the same write"]);

export function writesOf(history: readonly Call[]): Map<string, Write> {
  const writes = new Map<string, Write>();
  for (const [value, calls] of Map.groupBy(history, (call) => call.value)) {
    if (value === undefined) continue;
    const { kind, ifMatch } = calls[0]!;
    const [acknowledged] = calls.filter(({ outcome }) => outcome === "ok").toSorted((a, b) => a.end - b.end);
    const item = acknowledged?.item ?? calls.find((call) => call.item !== undefined)?.item;
    const start = Math.min(...calls.map((call) => call.start));
    const possible = acknowledged !== undefined || calls.some(({ outcome }) => outcome === "unknown");
    writes.set(value, { kind, ifMatch, item, value, start, acknowledged, possible });
  }
  return writes;
}

/** What the answers show. One that is repeated shows nothing: it is of the time of the first. */
export function sightsOf(history: readonly Call[], writes: ReadonlyMap<string, Write>): Sight[] {
  return history.flatMap((call): Sight[] => {
    const { item, value, outcome, seen, start, end } = call;
    if (item === undefined || (outcome !== "ok" && outcome !== "gone")) return [];
    if (outcome === "gone") return [{ item, version: GONE, content: [], start, end, by: undefined }];
    const { version, content } = seen ?? { version: GONE, content: [] };
    if (value === undefined) return [{ item, version, content, start, end, by: undefined }];
    const write = writes.get(value)!;
    return write.acknowledged === call ? [{ item, version, content, start: write.start, end, by: value }] : [];
  });
}
