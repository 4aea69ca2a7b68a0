/** The model of a history: the requests that concurrent clients sent to the Items of one vault, and the answers. */

/** The kind of a call. `create` and `put` set the content of an Item to one value, `patch` appends a value to it. */
export type Kind = "create" | "put" | "patch" | "delete" | "read";

/**
 * The outcome of a call. `not found` is a 404 for the Item, and `precondition failed` is a 412; these two and `refused`
 * took no effect. A write with the outcome `unknown` may have taken effect; one that is `overtaken` took effect, and a later write
 * changed or deleted the Item.
 */
export type Outcome = "ok" | "not found" | "precondition failed" | "refused" | "overtaken" | "unknown";

/** One request and its answer. The times are ticks of one clock, and all times of a history differ. */
export interface Call {
  readonly kind: Kind;
  /** Absent when a creation got no answer. */
  readonly item?: string | undefined;
  /** Unique for each write, and the same when the write is sent again with its Idempotency-Key. A read has none. */
  readonly value?: string | undefined;
  readonly ifMatch?: number | undefined;
  readonly start: number;
  readonly end: number;
  readonly outcome: Outcome;
  /** The state of the Item in the answer; absent after a deletion. */
  readonly state?:
    | { readonly version: number; readonly tag?: string | undefined; readonly content: readonly string[] }
    | undefined;
  /** The body of the answer to a write, byte for byte. */
  readonly text?: string | undefined;
}

/** A write: all calls with the same value. */
export interface Write extends Pick<Call, "kind" | "item" | "ifMatch" | "start"> {
  readonly value: string;
  /** The call that was acknowledged first. */
  readonly acknowledged: Call | undefined;
  /** Whether the write may have taken effect. */
  readonly possible: boolean;
  /** Whether an answer said that it took effect and was overtaken. */
  readonly overtaken: boolean;
}

/** The version of a deleted Item: greater than every other version. */
export const DELETED = Number.POSITIVE_INFINITY;

/** An observation of the current version of an Item, which it had at some moment from `start` to `end`. */
export interface Observation {
  readonly item: string;
  readonly version: number;
  /** The entity tag in the answer; absent where the answer has none. */
  readonly tag: string | undefined;
  /** Empty when the Item is deleted. */
  readonly content: readonly string[];
  readonly start: number;
  readonly end: number;
  /** The value of the write whose answer this is; absent for a read. */
  readonly writeValue: string | undefined;
}

/** The rules that a history can violate. */
export type Rule =
  | "version decreased" // also when an acknowledged write is missing
  | "deleted Item is visible again"
  | "missing without a deletion"
  | "version without a write"
  | "not based on the previous version"
  | "two writes of one version"
  | "two contents of one version"
  | "two entity tags of one version"
  | "write took effect twice"
  | "different answers to one write"
  | "answer of another write"
  | "unknown value"
  | "observed before its request"
  | "refused write took effect"
  | "overtaken without an effect"
  | "If-Match ignored"
  | "refused although If-Match matched";

export interface Violation {
  readonly rule: Rule;
  readonly item: string;
  readonly detail: string;
}

export const violation = (rule: Rule, item = "?", detail = ""): Violation => ({ rule, item, detail });

export const format = ({ version, content, start, end }: Observation): string =>
  `version ${version} [${content.join(" ")}] observed in ${start}–${end}`;

/** The rules whose violation means that a write was lost. */
export const LOST: ReadonlySet<Rule> = new Set<Rule>([
  "version decreased",
  "deleted Item is visible again",
  "missing without a deletion",
  "version without a write",
  "not based on the previous version",
  "two writes of one version",
  "overtaken without an effect",
]);
/** The rules whose violation means that a write took effect twice. */
export const DOUBLED: ReadonlySet<Rule> = new Set<Rule>(["write took effect twice", "different answers to one write"]);

/** The writes of a history by their values. */
export function writesOf(history: readonly Call[]): Map<string, Write> {
  const writes = new Map<string, Write>();
  for (const [value, calls] of Map.groupBy(history, (call) => call.value)) {
    if (value === undefined) continue;
    const { kind, ifMatch } = calls[0]!;
    const [acknowledged] = calls.filter(({ outcome }) => outcome === "ok").toSorted((a, b) => a.end - b.end);
    const item = acknowledged?.item ?? calls.find((call) => call.item !== undefined)?.item;
    const start = Math.min(...calls.map((call) => call.start));
    const overtaken = calls.some(({ outcome }) => outcome === "overtaken");
    const possible = acknowledged !== undefined || overtaken || calls.some(({ outcome }) => outcome === "unknown");
    writes.set(value, { kind, ifMatch, item, value, start, acknowledged, possible, overtaken });
  }
  return writes;
}

/** The observations in the answers. A repeated answer to a write is none, because its state is that of the first answer. */
export function observationsOf(history: readonly Call[], writes: ReadonlyMap<string, Write>): Observation[] {
  return history.flatMap((call): Observation[] => {
    const { item, value, outcome, state, start, end } = call;
    if (item === undefined || (outcome !== "ok" && outcome !== "not found")) return [];
    if (outcome === "not found")
      return [{ item, version: DELETED, tag: undefined, content: [], start, end, writeValue: undefined }];
    const { version, tag, content } = state ?? { version: DELETED, content: [] };
    if (value === undefined) return [{ item, version, tag, content, start, end, writeValue: undefined }];
    const write = writes.get(value)!;
    return write.acknowledged === call ? [{ item, version, tag, content, start: write.start, end, writeValue: value }] : [];
  });
}
