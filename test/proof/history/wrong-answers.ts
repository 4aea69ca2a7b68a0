import { type Call, DELETED, type Rule } from "./calls.ts";
import {
  addVersion,
  type Answer,
  type CallRequest,
  carryOut,
  current,
  STABLE_ITEM,
  type Store,
  VERSIONS_KEPT,
  type WrongAnswer,
} from "./reference-store.ts";

/** Wrong answers that a test injects into a history of the reference store, to test that check.ts finds them. */

const stableItem = ({ items }: Store) => items.get(STABLE_ITEM)!;
const isWrite = (kind: Call["kind"]) => kind === "put" || kind === "patch";
const isOfDeleted = (kind: Call["kind"]) => kind === "undelete" || kind === "purge";
const acknowledged = ({ history }: Store) =>
  history.filter((call) => call.item === STABLE_ITEM && isWrite(call.kind) && call.outcome === "ok");
/** The newest version of the stable Item that an answer showed before a time. */
const newestVersionBefore = ({ history }: Store, time: number) =>
  Math.max(0, ...history.filter((call) => call.item === STABLE_ITEM && call.end < time).map((call) => call.state?.version ?? 0));
const isSent = (value: CallRequest["value"], { history }: Pick<Store, "history">) => history.some((call) => call.value === value);
/** Whether a call is a write to the stable Item that was not sent before. */
const isNewWrite = ({ kind, item, value }: CallRequest, { history }: Store) =>
  item === STABLE_ITEM && isWrite(kind) && !isSent(value, { history });
const isDestroyed = ({ kind, outcome }: Call) => kind === "destroy" && outcome === "ok";
/** The content of a version of the stable Item, if an answer has shown it, and a later version was current. */
const newestShown = ({ history }: Store, source: number | undefined, before = Number.POSITIVE_INFINITY) =>
  history.find(
    ({ item, kind, state, end }) => item === STABLE_ITEM && kind !== "versions" && state?.version === source && end < before,
  )?.state;
const showing = (version: number, content: readonly string[]): Answer => ({ outcome: "ok", state: { version, content } });

type OfStable = (request: CallRequest, store: Store, stable: ReturnType<typeof stableItem>) => ReturnType<WrongAnswer>;

/** A wrong answer to calls of a kind to the stable Item. */
const to =
  (kind: Call["kind"], answer: OfStable): WrongAnswer =>
  (request, store) =>
    request.kind === kind && request.item === STABLE_ITEM ? answer(request, store, stableItem(store)) : undefined;

/** A wrong answer to a new write to the stable Item. With `kind`, only to one of that kind without `If-Match`. */
const toNewWrite =
  (answer: OfStable, kind?: Call["kind"]): WrongAnswer =>
  (request, store) =>
    isNewWrite(request, store) && (kind === undefined || (request.kind === kind && request.ifMatch === undefined))
      ? answer(request, store, stableItem(store))
      : undefined;

/** Each wrong answer with rules, of which the history then violates at least one. */
export const WRONG_ANSWERS: readonly (readonly [name: string, rules: readonly Rule[], answer: WrongAnswer])[] = [
  [
    "a stale read",
    ["version decreased"],
    to("read", ({ start }, store, { contents }) => {
      const version = newestVersionBefore(store, start) - 1;
      return version > 0 ? showing(version, contents[version - 1]!) : undefined;
    }),
  ],
  [
    "a read of a value that was not written yet",
    ["unknown value", "two contents of one version", "version decreased", "observed before its request"],
    to("read", (_, __, stable) => showing(current(stable).version + 1, [...current(stable).content, "not yet"])),
  ],
  [
    "a read of a value that was never written",
    ["unknown value", "two contents of one version"],
    to("read", (_, __, stable) => showing(current(stable).version, [...current(stable).content.slice(0, -1), "nobody's"])),
  ],
  [
    "a lost write",
    ["version decreased", "two writes of one version", "two contents of one version", "not based on the previous version"],
    toNewWrite((request, store, stable) => {
      const { kept } = stable;
      const answer = carryOut(request, store);
      if (answer.outcome !== "ok") return undefined;
      stable.contents.pop();
      stable.kept = kept;
      return answer;
    }),
  ],
  [
    "a write that is based on an older content than the current one",
    ["not based on the previous version", "write took effect twice"],
    toNewWrite(({ value }, store, stable) => {
      const { contents } = stable;
      if (contents.length < 3) return undefined;
      if (contents.at(-2)!.join() === contents.at(-1)!.join()) return undefined; // the last write was a restore
      if (acknowledged(store).at(-1)?.state!.version !== contents.length) return undefined;
      addVersion(stable, [...contents.at(-2)!, value!]);
      return showing(contents.length, contents.at(-1)!);
    }, "patch"),
  ],
  [
    "two writes with the same version",
    ["two writes of one version"],
    toNewWrite(({ value }, store, { contents }) => {
      if (acknowledged(store).at(-1)?.state!.version !== contents.length) return undefined;
      contents.splice(-1, 1, [...contents.at(-2)!, value!]);
      return showing(contents.length, contents.at(-1)!);
    }, "patch"),
  ],
  [
    "a skipped version",
    ["version without a write"],
    toNewWrite(({ value }, store, stable) => {
      // Adds one version more than the writes of unknown outcome can explain.
      const unknownWrites = store.history.filter(({ outcome }) => outcome === "unknown").map(() => ["?"]);
      for (const content of [["?"], ...unknownWrites, [value!]]) addVersion(stable, content);
      return showing(stable.contents.length, [value!]);
    }, "put"),
  ],
  [
    "exchanged answers of two writes",
    ["answer of another write"],
    toNewWrite((request, store) => {
      const before = acknowledged(store).at(-1);
      const answer = before && carryOut(request, store);
      if (answer?.outcome !== "ok") return undefined;
      const { state } = before!;
      before!.state = answer.state;
      return { ...answer, state };
    }),
  ],
  [
    "a deleted Item that is visible again",
    [
      "deleted Item is visible again",
      "two deletions of one Item",
      "write took effect twice",
      "different answers to one write",
      "two writes of one version",
      "observed before its request",
    ],
    (request, store) => {
      const stored = store.items.get(request.item ?? "");
      const deleted = store.history.some(
        ({ item, kind, outcome, end }) => item === request.item && kind === "delete" && outcome === "ok" && end < request.start,
      );
      const restored = store.history.some(({ item, kind }) => item === request.item && kind === "undelete");
      if (!stored?.deleted || !deleted || restored || !["read", "put", "patch"].includes(request.kind)) return undefined;
      stored.deleted = false;
      const answer = carryOut(request, store);
      return answer.outcome === "ok" ? answer : undefined;
    },
  ],
  [
    "a 404 for an Item that was not deleted",
    ["missing without a deletion"],
    ({ item, kind }) => (item === STABLE_ITEM && !isOfDeleted(kind) ? { outcome: "not found" } : undefined),
  ],
  [
    "a second effect of a write with an Idempotency-Key",
    ["write took effect twice"],
    (request, store) => {
      const repeated = acknowledged(store).find(({ value }) => value === request.value);
      if (!repeated || request.kind !== "patch") return undefined;
      carryOut({ ...request, ifMatch: undefined }, store);
      return { outcome: "ok", state: repeated.state };
    },
  ],
  [
    "a different answer to a repeated write with an Idempotency-Key",
    ["different answers to one write"],
    (request, store) => {
      const repeated = acknowledged(store).find(({ value }) => value === request.value);
      const now = current(stableItem(store));
      return repeated && repeated.state!.version < now.version ? { outcome: "ok", state: now } : undefined;
    },
  ],
  [
    "a 412 to a write that took effect",
    ["refused write took effect"],
    toNewWrite((request, store) =>
      carryOut({ ...request, ifMatch: undefined }, store).outcome === "ok" ? { outcome: "precondition failed" } : undefined,
    ),
  ],
  [
    "a write that took effect although its If-Match does not match",
    ["If-Match ignored"],
    toNewWrite((request, store, stable) =>
      (request.ifMatch ?? DELETED) < current(stable).version ? carryOut({ ...request, ifMatch: undefined }, store) : undefined,
    ),
  ],
  [
    "a version with the content of another one",
    ["two contents of one version", "unknown value", "write took effect twice"],
    to("look", ({ source }, store, { contents }) => {
      const shown = newestShown(store, source);
      const content = contents.find((one) => one.join() !== shown?.content!.join());
      return shown && content ? showing(source!, content) : undefined;
    }),
  ],
  [
    "a destroyed version that is shown",
    ["gone version is visible again"],
    to("look", ({ item, source, start }, store, { contents }) => {
      const destroyed = store.history.some(
        (call) => isDestroyed(call) && call.item === item && call.source === source && call.end < start,
      );
      return destroyed ? showing(source!, contents[source! - 1]!) : undefined;
    }),
  ],
  [
    "a destruction without an effect",
    ["gone version is visible again"],
    to("destroy", ({ source, end }, store, { kept, contents }) => {
      if (!kept.includes(source!)) return undefined;
      // Makes it observable: the version is read before it is trimmed.
      const look = { kind: "look", item: STABLE_ITEM, source, start: end + 1, end: end + 2, outcome: "ok" } as const;
      store.history.push({ ...look, state: { version: source!, content: contents[source! - 1]! } });
      return { outcome: "ok" };
    }),
  ],
  [
    "a list of versions without the newest earlier one",
    ["kept version is missing"],
    to("versions", (_, store, { kept, contents }) => {
      const newest = contents.length - 1;
      if (!kept.includes(newest)) return undefined;
      if (store.history.some(({ kind, source }) => kind === "destroy" && source === newest)) return undefined;
      return { outcome: "ok", kept: kept.filter((version) => version !== newest), state: { version: contents.length } };
    }),
  ],
  [
    "one version more than those that are kept",
    ["too many versions"],
    to("versions", (_, __, { kept, contents }) =>
      kept.length < VERSIONS_KEPT
        ? undefined
        : { outcome: "ok", kept: [...kept.toReversed(), kept[0]! - 1], state: { version: contents.length } },
    ),
  ],
  [
    "a 404 for a kept version",
    ["kept version is missing"],
    to("look", ({ source, start }, store, { contents }) => {
      if (source! < contents.length - VERSIONS_KEPT || !newestShown(store, source, start)) return undefined;
      return store.history.some((call) => call.kind === "destroy" && call.source === source)
        ? undefined
        : { outcome: "version not found" };
    }),
  ],
  [
    "a restored version with the content of another one",
    ["restored another content"],
    to("restore", ({ source, value }, store, stable) => {
      const { kept, contents } = stable;
      const other = kept.includes(source!) && contents.find((one) => one.join() !== contents[source! - 1]!.join());
      if (!other || isSent(value, store)) return undefined;
      addVersion(stable, other);
      return showing(contents.length, other);
    }),
  ],
  [
    "a restored version that is no new version",
    ["two writes of one version", "two contents of one version", "version decreased", "restored another content"],
    to("restore", ({ source, value }, store, { kept, contents }) => {
      const isLast = acknowledged(store).at(-1)?.state!.version === contents.length;
      return kept.includes(source!) && isLast && !isSent(value, store)
        ? showing(contents.length, contents[source! - 1]!)
        : undefined;
    }),
  ],
  [
    "a deleted Item that is restored as its last version",
    ["two writes of one version", "restored another content", "two contents of one version", "version decreased"],
    (request, store) => {
      const stored = store.items.get(request.item ?? "");
      if (request.kind !== "undelete" || !stored?.deleted || isSent(request.value, store)) return undefined;
      const { version, content } = current(stored);
      const made = store.history.some(({ item, value, state }) => item === stored.id && value && state?.version === version);
      if (!made) return undefined;
      stored.deleted = false;
      return showing(version, content);
    },
  ],
  [
    "a deleted Item that was destroyed and is restored",
    ["destroyed Item is visible again"],
    (request, store) => {
      const stored = store.items.get(request.item ?? "");
      const destroyed = store.history.some(
        ({ item, kind, outcome, end }) => item === request.item && kind === "purge" && outcome === "ok" && end < request.start,
      );
      if (request.kind !== "undelete" || !destroyed || isSent(request.value, store)) return undefined;
      addVersion(stored!, stored!.contents.at(-1)!);
      Object.assign(stored!, { deleted: false, destroyed: false });
      return { outcome: "ok", state: current(stored!) };
    },
  ],
];
