import { type Call, DELETED, type Rule } from "./calls.ts";
import {
  type Answer,
  type CallRequest,
  carryOut,
  current,
  STABLE_ITEM,
  type Store,
  type WrongAnswer,
} from "./reference-store.ts";

/** Wrong answers that a test injects into a history of the reference store, to test that check.ts finds them. */

const stableItem = ({ items }: Store) => items.get(STABLE_ITEM)!;
const isWrite = (kind: Call["kind"]) => kind === "put" || kind === "patch";
const acknowledged = ({ history }: Store) =>
  history.filter((call) => call.item === STABLE_ITEM && isWrite(call.kind) && call.outcome === "ok");
/** The newest version of the stable Item that an answer showed before a time. */
const newestVersionBefore = ({ history }: Store, time: number) =>
  Math.max(0, ...history.filter((call) => call.item === STABLE_ITEM && call.end < time).map((call) => call.state?.version ?? 0));
/** Whether a call is a write to the stable Item that was not sent before. */
const isNewWrite = ({ kind, item, value }: CallRequest, { history }: Store) =>
  item === STABLE_ITEM && isWrite(kind) && !history.some((call) => call.value === value);
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
      const answer = carryOut(request, store);
      if (answer.outcome === "ok") stableItem(store).contents.pop();
      return answer.outcome === "ok" ? answer : undefined;
    },
  ],
  [
    "a write that is based on an older content than the current one",
    ["not based on the previous version", "write took effect twice"],
    (request, store) => {
      const { contents } = stableItem(store);
      if (!isNewWrite(request, store) || request.kind !== "patch" || request.ifMatch !== undefined || contents.length < 3)
        return undefined;
      contents.push([...contents.at(-2)!, request.value!]);
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
      stableItem(store).contents.push(["?"], ...unknownWrites, [request.value!]);
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
      "different answers to one write",
      "two writes of one version",
      "observed before its request",
    ],
    (request, store) => {
      const stored = store.items.get(request.item ?? "");
      const deleted = store.history.some(
        ({ item, kind, outcome, end }) => item === request.item && kind === "delete" && outcome === "ok" && end < request.start,
      );
      if (!stored?.deleted || !deleted || request.kind === "delete") return undefined;
      stored.deleted = false;
      const answer = carryOut(request, store);
      return answer.outcome === "ok" ? answer : undefined;
    },
  ],
  [
    "a 404 for an Item that was not deleted",
    ["missing without a deletion"],
    ({ item }) => (item === STABLE_ITEM ? { outcome: "not found" } : undefined),
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
];
