import { expect, it } from "vitest";
import { checkHistory } from "./history/check.ts";
import type { Call, Kind, Outcome, Rule } from "./history/calls.ts";

/** Tests the rules of checkHistory at their boundaries: short histories of one Item, and the rules that they violate. */

interface More {
  readonly item?: string;
  readonly ifMatch?: number;
  readonly source?: number;
  readonly kept?: readonly number[];
  readonly outcome?: Outcome;
  readonly tag?: string;
}

/** A call. `state` is the version and the content, separated by blanks, in the answer. */
function call(
  kind: Kind,
  value: string | undefined,
  start: number,
  end: number,
  state?: [number, string],
  { tag, ...more }: More = {},
): Call {
  const shown = state && { version: state[0], tag, content: state[1].split(" ") };
  return { item: "item", kind, value, start, end, outcome: "ok", state: shown, text: state?.join(), ...more };
}

const unknown = { outcome: "unknown" } as const;
const overtaken = { outcome: "overtaken" } as const;
const read = (start: number, end: number, version: number, content: string, item = "item") =>
  call("read", undefined, start, end, [version, content], { item });
const missing = (start: number, end: number) => call("read", undefined, start, end, undefined, { outcome: "not found" });
const look = (start: number, end: number, version: number, content: string) =>
  call("look", undefined, start, end, [version, content], { source: version });
/** A list of versions. */
const list = (start: number, end: number, version: number, kept: number[]) => ({
  ...call("versions", undefined, start, end, undefined, { kept }),
  state: { version },
});
const first = call("create", "f", 1, 2, [1, "f"]);

const CASES: readonly (readonly [name: string, rules: readonly Rule[], history: readonly Call[]])[] = [
  [
    "a write of unknown outcome that is observed",
    [],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 2, "f p")],
  ],
  [
    "a write of unknown outcome that is not observed",
    [],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 1, "f")],
  ],
  [
    "a write of unknown outcome that is observed only by a later read",
    [],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 1, "f"), read(7, 8, 2, "f p")],
  ],
  [
    "a write of unknown outcome that a later read does not observe",
    ["version decreased"],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 2, "f p"), read(7, 8, 1, "f")],
  ],
  [
    "a write of unknown outcome that is observed before its request",
    ["observed before its request"],
    [first, read(3, 4, 2, "f p"), call("patch", "p", 5, 6, undefined, unknown)],
  ],
  [
    "a write of unknown outcome that is observed and was sent after the deletion",
    ["observed before its request"],
    [first, read(5, 30, 2, "f p"), call("delete", "d", 10, 11), call("patch", "p", 20, 21, undefined, unknown)],
  ],
  [
    "a write of unknown outcome whose value is observed twice in one content",
    ["write took effect twice"],
    [first, call("patch", "p", 3, 4, undefined, unknown), read(5, 6, 3, "f p p")],
  ],
  [
    "a write that was overtaken and is observed",
    [],
    [first, call("patch", "p", 3, 4, undefined, overtaken), read(5, 6, 3, "f p q"), call("patch", "q", 3, 7, undefined, unknown)],
  ],
  [
    "a write that was overtaken and is not observed",
    ["overtaken without an effect"],
    [first, call("patch", "p", 3, 4, undefined, overtaken), read(5, 6, 1, "f")],
  ],
  [
    "a write that was overtaken by a PUT, before anybody read it",
    [],
    [first, call("patch", "p", 3, 4, undefined, overtaken), call("put", "q", 3, 5, [3, "q"])],
  ],
  [
    "a deletion that was overtaken",
    ["overtaken without an effect"],
    [first, call("delete", "d", 3, 4, undefined, overtaken), read(5, 6, 1, "f")],
  ],
  ["a value that is observed in another Item", ["unknown value"], [first, read(3, 4, 1, "f", "other")]],
  [
    "a creation at version 2",
    ["not based on the previous version"],
    [first, call("create", "c", 3, 4, undefined, { ...unknown, item: undefined }), read(5, 6, 2, "c")],
  ],
  [
    "an unobserved version that a write of unknown outcome explains",
    [],
    [first, call("put", "p", 3, 4, undefined, unknown), call("put", "q", 5, 6, [3, "q"])],
  ],
  ["an unobserved version that no write explains", ["version without a write"], [first, call("put", "q", 5, 6, [3, "q"])]],
  [
    "an unobserved version and a write of unknown outcome to another Item",
    ["version without a write"],
    [first, call("put", "p", 3, 4, undefined, { ...unknown, item: "other" }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "an unobserved version and a refused write",
    ["version without a write"],
    [first, call("put", "p", 3, 4, undefined, { outcome: "refused" }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "an unobserved version and a later write of unknown outcome",
    ["version without a write"],
    [first, call("put", "q", 5, 6, [3, "q"]), call("put", "p", 7, 8, undefined, unknown)],
  ],
  [
    "an unobserved version and a deletion of unknown outcome",
    ["version without a write"],
    [first, call("delete", "d", 3, 9, undefined, unknown), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "an unobserved version and a write of unknown outcome with another version in If-Match",
    ["version without a write"],
    [first, call("put", "p", 3, 4, undefined, { ...unknown, ifMatch: 2 }), call("put", "q", 5, 6, [3, "q"])],
  ],
  [
    "an unobserved version and a write of unknown outcome that was observed at another version",
    ["version without a write"],
    [first, call("put", "p", 3, 4, undefined, unknown), read(5, 6, 2, "p"), call("put", "q", 7, 8, [4, "q"])],
  ],
  [
    "two unobserved versions and two writes of unknown outcome, one of which explains only the first version",
    [],
    [
      first,
      call("put", "a", 3, 4, undefined, unknown),
      call("put", "b", 5, 6, undefined, { ...unknown, ifMatch: 1 }),
      call("put", "q", 7, 8, [4, "q"]),
    ],
  ],
  [
    "a PATCH that is based on another content than the previous one",
    ["not based on the previous version"],
    [first, call("put", "p", 3, 4, [2, "p"]), call("patch", "q", 5, 6, [3, "f q"])],
  ],
  [
    "a 404 before the request of the deletion",
    ["missing without a deletion"],
    [first, call("read", undefined, 3, 4, undefined, { outcome: "not found" }), call("delete", "d", 5, 6)],
  ],
  [
    "a 404 between a deletion of unknown outcome and an acknowledged deletion",
    ["missing without a deletion"],
    [
      first,
      call("delete", "d", 3, 4, undefined, unknown),
      call("read", undefined, 5, 6, undefined, { outcome: "not found" }),
      call("delete", "e", 7, 8),
    ],
  ],
  ["two acknowledged deletions", ["two deletions of one Item"], [first, call("delete", "d", 3, 4), call("delete", "e", 5, 6)]],
  [
    "two entity tags of one version",
    ["two entity tags of one version"],
    [
      first,
      call("put", "p", 3, 4, [2, "p"], { tag: "one" }),
      read(5, 6, 2, "p"),
      call("read", undefined, 7, 8, [2, "p"], { tag: "other" }),
    ],
  ],
  [
    "a 412 before the version in If-Match was current",
    [],
    [first, call("put", "p", 3, 4, undefined, { outcome: "precondition failed", ifMatch: 2 }), call("put", "q", 5, 6, [2, "q"])],
  ],
  [
    "a 412 while the version in If-Match was current",
    ["refused although If-Match matched"],
    [first, call("put", "p", 3, 4, undefined, { outcome: "precondition failed", ifMatch: 1 }), read(5, 6, 1, "f")],
  ],
  [
    "a 412 after the version in If-Match was current",
    [],
    [first, call("put", "q", 3, 4, [2, "q"]), call("put", "p", 5, 6, undefined, { outcome: "precondition failed", ifMatch: 1 })],
  ],
  [
    "a deletion, and a restored Item at the next version",
    [],
    [first, call("delete", "d", 3, 4), missing(5, 6), call("undelete", "u", 7, 8, [2, "f"]), call("put", "p", 9, 10, [3, "p"])],
  ],
  [
    "a restored Item at its last version",
    ["two writes of one version"],
    [first, call("delete", "d", 3, 4), call("undelete", "u", 5, 6, [1, "f"])],
  ],
  [
    "a restored Item with another content",
    ["restored another content"],
    [first, call("put", "p", 3, 4, [2, "p"]), call("delete", "d", 5, 6), call("undelete", "u", 7, 8, [3, "f"])],
  ],
  [
    "an Item that is visible between its deletion and its restoration",
    ["deleted Item is visible again"],
    [first, call("delete", "d", 3, 4), read(5, 6, 1, "f"), call("undelete", "u", 7, 8, [2, "f"])],
  ],
  [
    "a 404 after a restoration",
    ["missing without a deletion"],
    [first, call("delete", "d", 3, 4), call("undelete", "u", 5, 6, [2, "f"]), missing(7, 8)],
  ],
  [
    "an Item that is missing among the deleted ones",
    ["deleted Item is not kept"],
    [first, call("delete", "d", 3, 4), call("undelete", "u", 5, 6, undefined, { outcome: "not found" }), missing(7, 8)],
  ],
  [
    "an Item that is not restored because it was destroyed",
    [],
    [
      first,
      call("delete", "d", 3, 4),
      call("purge", "e", 5, 6),
      call("undelete", "u", 7, 8, undefined, { outcome: "not found" }),
      missing(9, 10),
    ],
  ],
  [
    "a restored version, whose answer is lost",
    [],
    [
      first,
      call("put", "p", 3, 4, [2, "p"]),
      call("restore", "r", 5, 6, undefined, { ...unknown, source: 1 }),
      read(7, 8, 3, "f"),
    ],
  ],
  [
    "a version with an earlier content that nobody restored",
    ["not based on the previous version"],
    [first, call("put", "p", 3, 4, [2, "p"]), read(7, 8, 3, "f")],
  ],
  [
    "a destroyed version that is shown while it is destroyed",
    [],
    [first, call("put", "p", 3, 4, [2, "p"]), call("destroy", "x", 5, 8, undefined, { source: 1 }), look(6, 7, 1, "f")],
  ],
  [
    "a destroyed version that is shown later",
    ["gone version is visible again"],
    [first, call("put", "p", 3, 4, [2, "p"]), call("destroy", "x", 5, 6, undefined, { source: 1 }), look(7, 8, 1, "f")],
  ],
  [
    "a list of versions without one that was destroyed",
    [],
    [first, call("put", "p", 3, 4, [2, "p"]), call("destroy", "x", 5, 6, undefined, { source: 1 }), list(7, 8, 2, [])],
  ],
  ["a list of versions without one", ["kept version is missing"], [first, call("put", "p", 3, 4, [2, "p"]), list(5, 6, 2, [])]],
];

it.each(CASES)("%s", (_, rules, history) => {
  expect([...new Set(checkHistory(history).map(({ rule }) => rule))]).toEqual(rules);
});
