import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "../../src/model/item.ts";
import type { PatchOperation } from "../../src/model/patch-input.ts";
import { complete } from "../../src/vault/complete.ts";
import { applyPatch } from "../../src/vault/patch.ts";
import { runs } from "../support/runs.ts";

/** PATCH against a slow and obvious model of what it should do, with ids that are awkward in pointers and in JavaScript. */

const FRAME = {
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  vault: "c0ffee00-5717-4562-b3fc-2c963f66afa6",
  version: 1,
  createdAt: 0,
  updatedAt: 0,
  lastEditedBy: "x",
  files: [],
};
const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

type Ref = { id: string; label: string; value?: string; section?: string | undefined };
type Url = { href: string; label?: string | undefined };
interface Model {
  tags: string[];
  urls: Url[];
  sections: Ref[];
  fields: Ref[];
}

const START: Model = {
  tags: ["a", "b"],
  urls: [{ href: "u" }],
  sections: [{ id: "__proto__", label: "P" }],
  fields: [
    { id: "a/b", label: "", value: "1", section: "__proto__" },
    { id: "~", label: "", value: "2" },
  ],
};

const itemOf = ({ fields, ...rest }: Model): Item => ({
  ...FRAME,
  title: "T",
  category: "LOGIN",
  favorite: false,
  ...rest,
  fields: fields.map((field) => ({ type: "STRING", purpose: "", value: "", ...field })),
});

/** A step says what is meant; `operation` is how a client writes it. */
interface Step {
  readonly operation: PatchOperation;
  /** What it does to the model; `false` when it is to be refused. */
  readonly run: (model: Model) => boolean;
}

const escape = (id: string) => id.replaceAll("~", "~0").replaceAll("/", "~1");
const op = fc.constantFrom("add" as const, "add" as const, "add" as const, "replace" as const, "remove" as const);
const id = fc.oneof(
  fc.constantFrom("__proto__", "a/b", "~"), // those of START
  fc.constantFrom("~1", "😀", "constructor", "-", "0", " ", "é%2F\u0000"),
);
const word = fc.constantFrom("", "x", "toString", "/~", "日本");

function edits<V>(list: V[], how: PatchOperation["op"], index: number | "-", value: V): boolean {
  const at = index === "-" ? list.length : index;
  if (how === "add") return at <= list.length && (list.splice(at, 0, value), true);
  if (index === "-" || at >= list.length) return false;
  list.splice(at, 1, ...(how === "replace" ? [value] : []));
  return true;
}

const index = fc.oneof(fc.nat({ max: 3 }), fc.constant("-" as const));
const entry = fc.tuple(op, index, word).chain(([how, at, text]) =>
  fc.constantFrom<Step>(
    { operation: { op: how, path: `/tags/${at}`, value: text }, run: ({ tags }) => edits(tags, how, at, text) },
    {
      operation: { op: how, path: `/urls/${at}`, value: { href: text } },
      run: ({ urls }) => edits(urls, how, at, { href: text }),
    },
    {
      operation: { op: how, path: `/urls/${at}/label`, value: text },
      run({ urls }) {
        if (at === "-" || at >= urls.length) return false;
        urls[at] = { ...urls[at]!, label: how === "remove" ? undefined : text };
        return true;
      },
    },
  ),
);

const record = fc.tuple(op, id, id, word).chain(([how, name, other, text]) => {
  const at = (list: Ref[]) => list.findIndex((one) => one.id === name);
  const put = (list: Ref[], value: Ref): boolean => {
    if (how === "add" && at(list) < 0) return list.push(value) > 0;
    return edits(list, how === "remove" ? how : "replace", at(list) < 0 ? "-" : at(list), value);
  };
  const set = (list: Ref[], change: Partial<Ref>) => at(list) >= 0 && Object.assign(list[at(list)]!, change) !== undefined;
  const removes = how === "remove";
  const field = { label: text, value: text, section: other };
  return fc.constantFrom<Step>(
    {
      operation: { op: how, path: `/sections/${escape(name)}`, value: { label: text } },
      run({ sections, fields }) {
        if (removes) for (const one of fields) if (one.section === name && at(sections) >= 0) one.section = undefined;
        return put(sections, { id: name, label: text });
      },
    },
    {
      operation: { op: how, path: `/fields/${escape(name)}`, value: { label: text, value: text, section: { id: other } } },
      run: ({ fields }) => put(fields, { id: name, ...field }),
    },
    {
      operation: { op: how, path: `/fields/${escape(name)}/value`, value: text },
      run: ({ fields }) => set(fields, { value: removes ? "" : text }),
    },
    {
      operation: { op: how, path: `/fields/${escape(name)}/section`, value: { id: other } },
      run: ({ fields }) => set(fields, { section: removes ? undefined : other }),
    },
    {
      operation: { op: how, path: `/sections/${escape(name)}/label`, value: text },
      run: ({ sections }) => set(sections, { label: removes ? "" : text }),
    },
    {
      operation: { op: "add", path: "/fields", value: { id: name, value: text } },
      run: ({ fields }) => fields.push({ id: name, label: "", value: text }) > 0,
    },
  );
});

const REFUSED: object = expect.objectContaining({ ok: false });
const distinct = (list: Ref[]) => new Set(list.map((one) => one.id)).size === list.length;

/** Takes a step; a section that a field then names and nobody declared is added. */
function take(model: Model, { run }: Step): boolean {
  const taken = run(model);
  for (const { section } of model.fields) {
    if (section === undefined || model.sections.some((one) => one.id === section)) continue;
    model.sections.push({ id: section, label: "" });
  }
  return taken;
}

/** What must come of the steps, and the result that says so. */
function expected(steps: Step[]): [outcome: "made" | "stopped" | "twice", result: object] {
  const model = structuredClone(START);
  const stopped = steps.findIndex((step) => !take(model, step));
  if (stopped >= 0) return ["stopped", { ok: false, failure: refusal(stopped, steps[stopped]!.operation.path) }];
  if (!distinct(model.fields) || !distinct(model.sections)) return ["twice", REFUSED];
  return ["made", { ok: true, value: itemOf(model) }];
}

/** A field that is not there is named; all else has index and path. */
function refusal(at: number, path: string): object {
  const [, list, name = ""] = path.split("/");
  return list === "fields"
    ? { kind: "missing_field", detail: name.replaceAll("~1", "/").replaceAll("~0", "~") }
    : { kind: "invalid", detail: expect.stringContaining(`operation ${at} (${path})`) };
}

describe("applyPatch", () => {
  it("does to tags, urls, fields and sections what the model does, and stops where the model stops", () => {
    const seen = { made: 0, stopped: 0, twice: 0 };
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, record, record), { maxLength: 6 }), (steps) => {
        const item = itemOf(START);
        const draft = applyPatch(
          item,
          steps.map((step) => step.operation),
        );
        const [outcome, result] = expected(steps);
        seen[outcome]++;
        expect(draft.ok ? complete(draft.value, FRAME, item, random) : draft).toEqual(result);
      }),
      { numRuns: runs(2000) },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
  });

  it("leaves the Item that it is given as it was", () => {
    const item = itemOf(START);
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, record), { maxLength: 5 }), (steps) => {
        applyPatch(
          item,
          steps.map((step) => step.operation),
        );
        expect(item).toEqual(itemOf(START));
      }),
      { numRuns: runs(300) },
    );
  });
});
