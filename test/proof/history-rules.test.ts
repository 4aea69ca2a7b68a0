import { expect, it } from "vitest";
import type { Call, Kind, Outcome } from "./history/calls.ts";
import { checkHistory } from "./history/check.ts";

/**
 * Tests the rules of checkHistory at their boundaries: short histories of one Item, and the rule that each violates.
 *
 * A history is a list of calls, one after the other unless they have times (`@start-end`). A call has its kind and the value that it
 * writes; `?` stands for an unknown outcome, `!` for a refusal; `=2 f p` is the version and the content of the answer. Each history
 * begins with the creation of the Item with the value `f`.
 */
const CASES = `
a write of unknown outcome that is observed
  patch p ?; read =2 f p
a write of unknown outcome that is not observed
  patch p ?; read =1 f
a write of unknown outcome that is observed only by a later read
  patch p ?; read =1 f; read =2 f p
a write of unknown outcome that a later read does not observe: version decreased
  patch p ?; read =2 f p; read =1 f
a write of unknown outcome that is observed before its request: observed before its request
  read =2 f p; patch p ?
a write of unknown outcome that is observed and was sent after the deletion: observed before its request
  read @5-30 =2 f p; delete d @10-11; patch p ? @20-21
a write of unknown outcome whose value is observed twice in one content: write took effect twice
  patch p ?; read =3 f p p
a write that was overtaken and is observed
  patch p !overtaken @3-4; read @5-6 =3 f p q; patch q ? @3-7
a write that was overtaken and is not observed: overtaken without an effect
  patch p !overtaken; read =1 f
a write that was overtaken by a PUT, before anybody read it
  patch p !overtaken @3-4; put q @3-5 =3 q
a deletion that was overtaken: overtaken without an effect
  delete d !overtaken; read =1 f
a value that is observed in another Item: unknown value
  read item=other =1 f
a creation at version 2: not based on the previous version
  create c ? item=; read =2 c
an unobserved version that a write of unknown outcome explains
  put p ?; put q =3 q
an unobserved version that no write explains: version without a write
  put q =3 q
an unobserved version and a write of unknown outcome to another Item: version without a write
  put p ? item=other; put q =3 q
an unobserved version and a refused write: version without a write
  put p !refused; put q =3 q
an unobserved version and a later write of unknown outcome: version without a write
  put q =3 q; put p ?
an unobserved version and a deletion of unknown outcome: version without a write
  delete d ? @3-9; put q @5-6 =3 q
an unobserved version and a write of unknown outcome with another version in If-Match: version without a write
  put p ? if=2; put q =3 q
an unobserved version and a write of unknown outcome that was observed at another version: version without a write
  put p ?; read =2 p; put q =4 q
two unobserved versions and two writes of unknown outcome, one of which explains only the first version
  put a ?; put b ? if=1; put q =4 q
a PATCH that is based on another content than the previous one: not based on the previous version
  put p =2 p; patch q =3 f q
a 404 before the request of the deletion: missing without a deletion
  read !not_found; delete d
a 404 between a deletion of unknown outcome and an acknowledged deletion: missing without a deletion
  delete d ?; read !not_found; delete e
two acknowledged deletions: two deletions of one Item
  delete d; delete e
two entity tags of one version: two entity tags of one version
  put p tag=one =2 p; read =2 p; read tag=other =2 p
a 412 before the version in If-Match was current
  put p !precondition_failed if=2; put q =2 q
a 412 while the version in If-Match was current: refused although If-Match matched
  put p !precondition_failed if=1; read =1 f
a 412 after the version in If-Match was current
  put q =2 q; put p !precondition_failed if=1
a deletion, and a restored Item at the next version
  delete d; read !not_found; undelete u =2 f; put p =3 p
a restored Item at its last version: two writes of one version
  delete d; undelete u =1 f
a restored Item with another content: restored another content
  put p =2 p; delete d; undelete u =3 f
an Item that is visible between its deletion and its restoration: deleted Item is visible again
  delete d; read =1 f; undelete u =2 f
a 404 after a restoration: missing without a deletion
  delete d; undelete u =2 f; read !not_found
an Item that is missing among the deleted ones: deleted Item is not kept
  delete d; undelete u !not_found; read !not_found
an Item that is not restored because it was destroyed
  delete d; purge e; undelete u !not_found; read !not_found
a restored version, whose answer is lost
  put p =2 p; restore r ? of=1; read =3 f
a version with an earlier content that nobody restored: not based on the previous version
  put p =2 p; read =3 f
a destroyed version that is shown while it is destroyed
  put p =2 p; destroy x of=1 @5-8; look of=1 @6-7 =1 f
a destroyed version that is shown later: gone version is visible again
  put p =2 p; destroy x of=1; look of=1 =1 f
a list of versions without one that was destroyed
  put p =2 p; destroy x of=1; versions kept= =2
a list of versions without one: kept version is missing
  put p =2 p; versions kept= =2
`;

const READS: ReadonlySet<string> = new Set(["read", "look", "versions"] satisfies Kind[]);

/** Parses a call in the notation above. `before` is the number of calls before it. */
function callOf(text: string, before: number): Call {
  const [described = "", answer] = text.split(/ =(?=\d)/);
  const [version, ...content] = answer?.split(" ") ?? [];
  const [kind = "", ...words] = described.split(" ");
  const value = READS.has(kind) ? undefined : words.shift();
  const given = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const number = (name: string) => (given(name) === undefined ? undefined : Number(given(name)));
  const refusal = words
    .find((word) => word.startsWith("!"))
    ?.slice(1)
    .replace("_", " ");
  const [start, end] = /@(\d+)-(\d+)/.exec(text)?.slice(1).map(Number) ?? [2 * before + 1, 2 * before + 2];
  const isList = kind === "versions";
  return {
    kind: kind as Kind,
    value,
    item: given("item") === "" ? undefined : (given("item") ?? "item"),
    start: start!,
    end: end!,
    outcome: (words.includes("?") ? "unknown" : (refusal ?? "ok")) as Outcome,
    state:
      version === undefined ? undefined : { version: Number(version), tag: given("tag"), content: isList ? undefined : content },
    text: answer,
    ifMatch: number("if"),
    source: number("of"),
    kept: isList ? [] : undefined,
  };
}

const rows = CASES.trim()
  .split(/\n(?! )/)
  .map((row) => {
    const [, name = "", rule, history = ""] = /^(.*?)(?:: (.*))?\n {2}(.*)$/.exec(row)!;
    return [name, rule, ["create f =1 f", ...history.split("; ")].map(callOf)] as const;
  });

it.each(rows)("%s", (_, rule, history) => {
  expect([...new Set(checkHistory(history).map((violation) => violation.rule))]).toEqual(rule === undefined ? [] : [rule]);
});
