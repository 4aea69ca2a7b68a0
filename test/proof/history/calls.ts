/** The model of a history: the requests that concurrent clients sent to the Items of one vault, and the answers. */

/**
 * The kind of a call. `create` and `put` set the content of an Item to one value, `patch` appends a value to it. Two kinds copy a
 * content into a new version: `restore` that of an earlier version, which an answer has shown before, and `undelete` that of the
 * last version of a deleted Item. `destroy` removes an earlier version, `purge` a deleted Item with all its versions. `look`
 * reads one version, and `versions` lists those that are kept.
 */
export type Kind =
  | "create"
  | "put"
  | "patch"
  | "restore"
  | "undelete"
  | "delete"
  | "destroy"
  | "purge"
  | "read"
  | "look"
  | "versions";

/**
 * The outcome of a call. `not found` is a 404 for the Item, `version not found` one for a version of it, and `precondition
 * failed` is a 412; these three and `refused` took no effect. A write with the outcome `unknown` may have taken effect; one that is `overtaken` took effect, and a later write
 * changed or deleted the Item.
 */
export type Outcome = "ok" | "not found" | "version not found" | "precondition failed" | "refused" | "overtaken" | "unknown";

/** One request and its answer. The times are ticks of one clock, and all times of a history differ. */
export interface Call {
  readonly kind: Kind;
  /** Absent when a creation got no answer. */
  readonly item?: string | undefined;
  /** Unique for each write, and the same when the write is sent again with its Idempotency-Key. A read has none. */
  readonly value?: string | undefined;
  readonly ifMatch?: number | undefined;
  /** The version that a `restore` copies, a `destroy` removes or a `look` reads. */
  readonly source?: number | undefined;
  readonly start: number;
  readonly end: number;
  readonly outcome: Outcome;
  /** The earlier versions in the answer to `versions`, which also shows the version of the Item. */
  readonly kept?: readonly number[] | undefined;
  /** The state of the Item in the answer, or of the version that `look` reads; absent after a deletion. */
  readonly state?:
    | { readonly version: number; readonly tag?: string | undefined; readonly content?: readonly string[] | undefined }
    | undefined;
  /** The body of the answer to a write, byte for byte. */
  readonly text?: string | undefined;
}

/** A write: all calls with the same value. */
export interface Write extends Pick<Call, "kind" | "item" | "ifMatch" | "source" | "start"> {
  readonly value: string;
  /** The call that was acknowledged first. */
  readonly acknowledged: Call | undefined;
  /** Whether the write may have taken effect. */
  readonly possible: boolean;
  /** Whether an answer said that it took effect and was overtaken. */
  readonly overtaken: boolean;
}

/** The kinds of writes whose values are in the contents. */
const WITH_VALUE: ReadonlySet<Kind> = new Set<Kind>(["create", "put", "patch"]);
export const hasValue = ({ kind }: { readonly kind: Kind }): boolean => WITH_VALUE.has(kind);
/** The kinds of writes that make a version from the content of another one. */
export const isCopy = ({ kind }: { readonly kind: Kind }): boolean => kind === "restore" || kind === "undelete";

/** Stands for the version of a deleted Item. */
export const DELETED = Number.POSITIVE_INFINITY;

/** An observation of the current version of an Item, which it had at some moment from `start` to `end`. */
export interface Observation {
  readonly item: string;
  /** Whether it is one of a version that was current before that moment, or at it. */
  readonly past?: boolean;
  readonly version: number;
  /** The entity tag in the answer; absent where the answer has none. */
  readonly tag: string | undefined;
  /** Empty when the Item is deleted; absent when the answer does not show it. */
  readonly content: readonly string[] | undefined;
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
  | "deleted Item is not kept"
  | "two deletions of one Item"
  | "version without a write"
  | "not based on the previous version"
  | "restored another content"
  | "kept version is missing"
  | "too many versions"
  | "gone version is visible again"
  | "destroyed Item is visible again"
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
  `version ${version} [${content?.join(" ")}] observed in ${start}–${end}`;

/** The rules whose violation means that a write was lost. */
export const LOST: ReadonlySet<Rule> = new Set<Rule>([
  "version decreased",
  "deleted Item is visible again",
  "missing without a deletion",
  "deleted Item is not kept",
  "kept version is missing",
  "restored another content",
  "version without a write",
  "not based on the previous version",
  "two writes of one version",
  "overtaken without an effect",
  "gone version is visible again",
  "destroyed Item is visible again",
]);
/** The rules whose violation means that a write took effect twice. */
export const DOUBLED: ReadonlySet<Rule> = new Set<Rule>([
  "write took effect twice",
  "two deletions of one Item",
  "different answers to one write",
]);

/** The writes of a history by their values. */
export function writesOf(history: readonly Call[]): Map<string, Write> {
  const writes = new Map<string, Write>();
  for (const [value, calls] of Map.groupBy(history, (call) => call.value)) {
    if (value === undefined) continue;
    const { kind, ifMatch, source } = calls[0]!;
    const [acknowledged] = calls.filter(({ outcome }) => outcome === "ok").toSorted((a, b) => a.end - b.end);
    const item = acknowledged?.item ?? calls.find((call) => call.item !== undefined)?.item;
    const start = Math.min(...calls.map((call) => call.start));
    const overtaken = calls.some(({ outcome }) => outcome === "overtaken");
    const possible = acknowledged !== undefined || overtaken || calls.some(({ outcome }) => outcome === "unknown");
    writes.set(value, { kind, ifMatch, source, item, value, start, acknowledged, possible, overtaken });
  }
  return writes;
}

/**
 * The observations in the answers. A repeated answer to a write is none, because its state is that of the first answer. That an
 * Item is not among the deleted ones is none either.
 */
export function observationsOf(history: readonly Call[], writes: ReadonlyMap<string, Write>): Observation[] {
  return history.flatMap((call): Observation[] => {
    const { kind, item, value, outcome, state, start, end } = call;
    const none = outcome === "not found" ? kind === "undelete" || kind === "purge" : outcome !== "ok" || kind === "destroy";
    if (item === undefined || none) return [];
    const missing = { item, version: DELETED, tag: undefined, content: [], start, end, writeValue: undefined };
    if (outcome === "not found") return [missing];
    const { version, tag, content } = state ?? missing;
    const shown = { item, version, tag, content, start, end, writeValue: value };
    if (value === undefined) return [kind === "look" ? { ...shown, past: true } : shown];
    const write = writes.get(value)!;
    return write.acknowledged === call ? [{ ...shown, start: write.start }] : [];
  });
}

/** A call that a client is about to send. */
export type PlannedCall = Pick<Call, "kind" | "item" | "value" | "ifMatch" | "source">;
