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
/** Whether a call is a write to the stable Item that was not sent before. */
const isNewWrite = ({ kind, item, value }: CallRequest, { history }: Store) =>
  item === STABLE_ITEM && isWrite(kind) && !history.some((call) => call.value === value);
const isDestroyed = ({ kind, outcome }: Call) => kind === "destroy" && outcome === "ok";
/** The content of a version of the stable Item, if an answer has shown it, and a later version was current. */
const newestShown = ({ history }: Store, source: number | undefined, before = Number.POSITIVE_INFINITY) =>
  history.find(
    ({ item, kind, state, end }) => item === STABLE_ITEM && kind !== "versions" && state?.version === source && end < before,
  )?.state;
const showing = (version: number, content: readonly string[]): Answer => ({ outcome: "ok", state: { version, content } });

/** Each wrong answer with rules, of which the history then violates at least one. */
export const WRONG_ANSWERS: readonly (readonly [name: string, rules: readonly Rule[], answer: WrongAnswer])[] = [
  [
    "a stale read",
    ["version decreased"],
    ({ kind, item, start }, store) => {
      const version = newestVersionBefore(store, start) - 1;
      return kind === "read" && item === STABLE_ITEM && version > 0
        ? showing(version, stableItem(store).contents[version - 1]!)
        : undefined;
    },
  ],
  [
    "a read of a value that was not written yet",
    ["unknown value", "two contents of one version", "version decreased", "observed before its request"],
    ({ kind, item }, store) => {
      const { version, content } = current(stableItem(store));
      return kind === "read" && item === STABLE_ITEM ? showing(version + 1, [...content, "not yet"]) : undefined;
    },
  ],
  [
    "a read of a value that was never written",
    ["unknown value", "two contents of one version"],
    ({ kind, item }, store) => {
      const { version, content } = current(stableItem(store));
      return kind === "read" && item === STABLE_ITEM ? showing(version, [...content.slice(0, -1), "nobody's"]) : undefined;
    },
  ],
  [
    "a lost write",
    ["version decreased", "two writes of one version", "two contents of one version", "not based on the previous version"],
    (request, store) => {
      if (!isNewWrite(request, store)) return undefined;
      const stored = stableItem(store);
      const { kept } = stored;
      const answer = carryOut(request, store);
      if (answer.outcome !== "ok") return undefined;
      stored.contents.pop();
      stored.kept = kept;
      return answer;
    },
  ],
  [
    "a write that is based on an older content than the current one",
    ["not based on the previous version", "write took effect twice"],
    (request, store) => {
      const stored = stableItem(store);
      const { contents } = stored;
      if (!isNewWrite(request, store) || request.kind !== "patch" || request.ifMatch !== undefined || contents.length < 3)
        return undefined;
      if (contents.at(-2)!.join() === contents.at(-1)!.join()) return undefined; // the last write was a restore
      if (acknowledged(store).at(-1)?.state!.version !== contents.length) return undefined;
      addVersion(stored, [...contents.at(-2)!, request.value!]);
      return showing(contents.length, contents.at(-1)!);
    },
  ],
  [
    "two writes with the same version",
    ["two writes of one version"],
    (request, store) => {
      const { contents } = stableItem(store);
      if (!isNewWrite(request, store) || request.kind !== "patch" || request.ifMatch !== undefined) return undefined;
      if (acknowledged(store).at(-1)?.state!.version !== contents.length) return undefined;
      contents.splice(-1, 1, [...contents.at(-2)!, request.value!]);
      return showing(contents.length, contents.at(-1)!);
    },
  ],
  [
    "a skipped version",
    ["version without a write"],
    (request, store) => {
      if (!isNewWrite(request, store) || request.kind !== "put" || request.ifMatch !== undefined) return undefined;
      // Adds one version more than the writes of unknown outcome can explain.
      const unknownWrites = store.history.filter(({ outcome }) => outcome === "unknown").map(() => ["?"]);
      for (const content of [["?"], ...unknownWrites, [request.value!]]) addVersion(stableItem(store), content);
      return showing(stableItem(store).contents.length, [request.value!]);
    },
  ],
  [
    "exchanged answers of two writes",
    ["answer of another write"],
    (request, store) => {
      const before = acknowledged(store).at(-1);
      if (!isNewWrite(request, store) || !before) return undefined;
      const answer = carryOut(request, store);
      if (answer.outcome !== "ok") return undefined;
      const { state } = before;
      before.state = answer.state;
      return { ...answer, state };
    },
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
    (request, store) => {
      if (!isNewWrite(request, store)) return undefined;
      return carryOut({ ...request, ifMatch: undefined }, store).outcome === "ok"
        ? { outcome: "precondition failed" }
        : undefined;
    },
  ],
  [
    "a write that took effect although its If-Match does not match",
    ["If-Match ignored"],
    (request, store) => {
      if (!isNewWrite(request, store) || (request.ifMatch ?? DELETED) >= current(stableItem(store)).version) return undefined;
      return carryOut({ ...request, ifMatch: undefined }, store);
    },
  ],
  [
    "a version with the content of another one",
    ["two contents of one version", "unknown value", "write took effect twice"],
    ({ kind, item, source }, store) => {
      const shown = newestShown(store, source);
      const content = stableItem(store).contents.find((one) => one.join() !== shown?.content!.join());
      return kind === "look" && item === STABLE_ITEM && shown && content ? showing(source!, content) : undefined;
    },
  ],
  [
    "a destroyed version that is shown",
    ["gone version is visible again"],
    ({ kind, item, source, start }, store) => {
      if (kind !== "look" || item !== STABLE_ITEM) return undefined;
      const destroyed = store.history.some(
        (call) => isDestroyed(call) && call.item === item && call.source === source && call.end < start,
      );
      return destroyed ? showing(source!, stableItem(store).contents[source! - 1]!) : undefined;
    },
  ],
  [
    "a destruction without an effect",
    ["gone version is visible again"],
    (request, store) => {
      const stored = stableItem(store);
      if (request.kind !== "destroy" || request.item !== STABLE_ITEM || !stored.kept.includes(request.source!)) return undefined;
      // Makes it observable: the version is read before it is trimmed.
      const [start, end] = [request.end + 1, request.end + 2];
      const look = { kind: "look", item: STABLE_ITEM, source: request.source, start, end, outcome: "ok" } as const;
      store.history.push({ ...look, state: { version: request.source!, content: stored.contents[request.source! - 1]! } });
      return { outcome: "ok" };
    },
  ],
  [
    "a list of versions without the newest earlier one",
    ["kept version is missing"],
    (request, store) => {
      const { kept, contents } = stableItem(store);
      const newest = contents.length - 1;
      if (request.kind !== "versions" || request.item !== STABLE_ITEM || !kept.includes(newest)) return undefined;
      if (store.history.some(({ kind, source }) => kind === "destroy" && source === newest)) return undefined;
      return { outcome: "ok", kept: kept.filter((version) => version !== newest), state: { version: contents.length } };
    },
  ],
  [
    "one version more than those that are kept",
    ["too many versions"],
    (request, store) => {
      const { kept, contents } = stableItem(store);
      if (request.kind !== "versions" || request.item !== STABLE_ITEM || kept.length < VERSIONS_KEPT) return undefined;
      return { outcome: "ok", kept: [...kept.toReversed(), kept[0]! - 1], state: { version: contents.length } };
    },
  ],
  [
    "a 404 for a kept version",
    ["kept version is missing"],
    ({ kind, item, source, start }, store) => {
      const { contents } = stableItem(store);
      const seen = newestShown(store, source, start);
      if (kind !== "look" || item !== STABLE_ITEM || source! < contents.length - VERSIONS_KEPT || !seen) return undefined;
      return store.history.some((call) => call.kind === "destroy" && call.source === source)
        ? undefined
        : { outcome: "version not found" };
    },
  ],
  [
    "a restored version with the content of another one",
    ["restored another content"],
    (request, store) => {
      const stored = stableItem(store);
      const { kept, contents } = stored;
      if (request.kind !== "restore" || request.item !== STABLE_ITEM || !kept.includes(request.source!)) return undefined;
      const other = contents.find((one) => one.join() !== contents[request.source! - 1]!.join());
      if (!other || store.history.some(({ value }) => value === request.value)) return undefined;
      addVersion(stored, other);
      return showing(contents.length, other);
    },
  ],
  [
    "a restored version that is no new version",
    ["two writes of one version", "two contents of one version", "version decreased", "restored another content"],
    (request, store) => {
      const { kept, contents } = stableItem(store);
      if (request.kind !== "restore" || request.item !== STABLE_ITEM || !kept.includes(request.source!)) return undefined;
      const last = acknowledged(store).at(-1);
      if (last?.state!.version !== contents.length || store.history.some(({ value }) => value === request.value))
        return undefined;
      return showing(contents.length, contents[request.source! - 1]!);
    },
  ],
  [
    "a deleted Item that is restored as its last version",
    ["two writes of one version", "restored another content", "two contents of one version", "version decreased"],
    (request, store) => {
      const stored = store.items.get(request.item ?? "");
      if (request.kind !== "undelete" || !stored?.deleted || store.history.some(({ value }) => value === request.value))
        return undefined;
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
      if (request.kind !== "undelete" || !destroyed || store.history.some(({ value }) => value === request.value))
        return undefined;
      addVersion(stored!, stored!.contents.at(-1)!);
      Object.assign(stored!, { deleted: false, destroyed: false });
      return { outcome: "ok", state: current(stored!) };
    },
  ],
];
