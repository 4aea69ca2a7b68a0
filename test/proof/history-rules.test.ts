import { expect, it } from "vitest";
import { checkHistory } from "./history/check.ts";
import type { Call, Kind, Outcome, Rule } from "./history/facts.ts";

/** The rules of the checker at their borders: short histories of one Item, and what is wrong with them. */

interface More {
  readonly item?: string;
  readonly ifMatch?: number;
  readonly outcome?: Outcome;
}

/** A call, and what it was shown: a version and its content. */
function call(kind: Kind, value: string | undefined, start: number, end: number, seen?: [number, string], more: More = {}): Call {
  const shown = seen && { version: seen[0], content: seen[1].split(" ") };
  return { item: "item", kind, value, start, end, outcome: "ok", seen: shown, text: seen?.join(), ...more };
}

const unknown = { outcome: "unknown" } as const;
const read = (start: number, end: number, version: number, content: string, item = "item") =>
  call("read", undefined, start, end, [version, content], { item });
const first = call("create", "f", 1, 2, [1, "f"]);

const CASES: readonly (readonly [name: string, rules: readonly Rule[], history: readonly Call[]])[] = [
  ["a write of unknown outcome that is seen", [], [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 2, "f p")]],
  ["and that is not", [], [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 1, "f")]],
  [
    "and that is seen later only",
    [],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 1, "f"), read(7, 8, 2, "f p")],
  ],
  [
    "and that is seen no more",
    ["went back"],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 2, "f p"), read(7, 8, 1, "f")],
  ],
  [
    "and that is seen before it was asked for",
    ["out of its time"],
    [first, read(3, 4, 2, "f p"), call("patch", "p", 5, 6, undefined, unknown)],
  ],
  [
    "and that comes after the deletion",
    ["out of its time"],
    [first, read(5, 30, 2, "f p"), call("delete", "d", 10, 11), call("patch", "p", 20, 21, undefined, unknown)],
  ],
  [
    "and that is there twice",
    ["a second effect of one write"],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 3, "f p p")],
  ],
  ["and that is in another Item", ["a value from nowhere"], [first, read(3, 4, 1, "f", "other")]],
  [
    "a creation at version 2",
    ["not built on the version before"],
    [first, call("create", "c", 3, 4, undefined, { ...unknown, item: undefined }), read(5, 6, 2, "c")],
  ],
  [
    "a gap that a write of unknown outcome fills",
    [],
    [first, call("put", "p", 3, 4, undefined, unknown), call("put", "q", 5, 6, [3, "q"])],
  ],
  ["a gap that nothing fills", ["a version that nobody wrote"], [first, call("put", "q", 5, 6, [3, "q"])]],
  [
    "a gap that only a write to another Item fills",
    ["a version that nobody wrote"],
    [first, call("put", "p", 3, 4, undefined, { ...unknown, item: "other" }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "a gap that only a refused write fills",
    ["a version that nobody wrote"],
    [first, call("put", "p", 3, 4, undefined, { outcome: "refused" }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "a gap that only a later write fills",
    ["a version that nobody wrote"],
    [first, call("put", "q", 5, 6, [3, "q"]), call("put", "p", 7, 8, undefined, unknown)],
  ],
  [
    "a gap that only a deletion fills",
    ["a version that nobody wrote"],
    [first, call("delete", "d", 3, 9, undefined, unknown), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "a gap that only a write of another If-Match fills",
    ["a version that nobody wrote"],
    [first, call("put", "p", 3, 4, undefined, { ...unknown, ifMatch: 2 }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "a gap that only a write with a version of its own fills",
    ["a version that nobody wrote"],
    [first, call("put", "p", 3, 4, undefined, unknown), read(5, 6, 2, "p"), call("put", "q", 7, 8, [4, "q"])],
  ],
  [
    "two gaps, of which one write fills only the first",
    [],
    [
      first,
      call("put", "a", 3, 4, undefined, unknown),
      call("put", "b", 5, 6, undefined, { ...unknown, ifMatch: 1 }),
      call("put", "q", 7, 8, [4, "q"]),
    ],
  ],
  [
    "a value added to another content than the one before",
    ["not built on the version before"],
    [first, call("put", "p", 3, 4, [2, "p"]), call("patch", "q", 5, 6, [3, "f q"])],
  ],
  [
    "a 404 before the deletion was asked for",
    ["gone, and nobody deleted it"],
    [first, call("read", undefined, 3, 4, undefined, { outcome: "gone" }), call("delete", "d", 5, 6)],
  ],
  [
    "a 404 between a deletion without effect and one that has it",
    ["gone, and nobody deleted it"],
    [
      first,
      call("delete", "d", 3, 4, undefined, unknown),
      call("read", undefined, 5, 6, undefined, { outcome: "gone" }),
      call("delete", "e", 7, 8),
    ],
  ],
  ["two deletions", ["two writes at one version"], [first, call("delete", "d", 3, 4), call("delete", "e", 5, 6)]],
  [
    "a 412 before the version came",
    [],
    [first, call("put", "p", 3, 4, undefined, { outcome: "stale", ifMatch: 2 }), call("put", "q", 5, 6, [2, "q"])],
  ],
  [
    "a 412 while the version was there",
    ["refused, though its If-Match was right"],
    [first, call("put", "p", 3, 4, undefined, { outcome: "stale", ifMatch: 1 }), read(5, 6, 1, "f")],
  ],
  [
    "a 412 after the version was there",
    [],
    [first, call("put", "q", 3, 4, [2, "q"]), call("put", "p", 5, 6, undefined, { outcome: "stale", ifMatch: 1 })],
  ],
];

it.each(CASES)("%s", (_, rules, history) => {
  expect([...new Set(checkHistory(history).map(({ rule }) => rule))]).toEqual(rules);
});
