import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "../../src/model/item.ts";
import type { Edit } from "../../src/model/item-input.ts";
import { complete } from "../../src/vault/complete.ts";
import { applyPatch } from "../../src/vault/patch.ts";
import { runs } from "../support/runs.ts";

/**
 * Contract 6: compares PATCH with a simple reference model. The ids need escapes in JSON pointers, or are names of
 * properties of every JavaScript object.
 */

const FRAME = {
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  vault: "c0ffee00-5717-4562-b3fc-2c963f66afa6",
  version: 1,
  nonce: "",
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

/** One operation, and its effect on the model. */
interface Step {
  readonly operation: Edit;
  /** Applies the operation to the model. Out: `false` when PATCH must refuse the operation. */
  readonly run: (model: Model) => boolean;
}

const escape = (id: string) => id.replaceAll("~", "~0").replaceAll("/", "~1");
const op = fc.constantFrom("add" as const, "add" as const, "add" as const, "replace" as const, "remove" as const);
const id = fc.oneof(
  fc.constantFrom("__proto__", "a/b", "~"), // those of START
  fc.constantFrom("~1", "😀", "constructor", "--", "0", " ", "é%2F\u0000"), // and not "-", whose entries get random ids
);
const word = fc.constantFrom("", "x", "toString", "/~", "日本");

function editEntry<V>(list: V[], kind: Edit["op"], index: number | "-", value: V): boolean {
  const at = index === "-" ? list.length : index;
  if (kind === "add") return at <= list.length && (list.splice(at, 0, value), true);
  if (index === "-" || at >= list.length) return false;
  list.splice(at, 1, ...(kind === "replace" ? [value] : []));
  return true;
}

const index = fc.oneof(fc.nat({ max: 3 }), fc.constant("-" as const));
const entry = fc.tuple(op, index, word).chain(([kind, at, text]) =>
  fc.constantFrom<Step>(
    { operation: { op: kind, path: `/tags/${at}`, value: text }, run: ({ tags }) => editEntry(tags, kind, at, text) },
    {
      operation: { op: kind, path: `/urls/${at}`, value: { href: text } },
      run: ({ urls }) => editEntry(urls, kind, at, { href: text }),
    },
    {
      operation: { op: kind, path: `/urls/${at}/label`, value: text },
      run({ urls }) {
        if (at === "-" || at >= urls.length) return false;
        urls[at] = { ...urls[at]!, label: kind === "remove" ? undefined : text };
        return true;
      },
    },
  ),
);

const record = fc.tuple(op, id, id, word).chain(([kind, name, other, text]) => {
  const at = (list: Ref[]) => list.findIndex((one) => one.id === name);
  const put = (list: Ref[], value: Ref): boolean => {
    if (kind === "add" && at(list) < 0) return list.push(value) > 0;
    return editEntry(list, kind === "remove" ? kind : "replace", at(list) < 0 ? "-" : at(list), value);
  };
  const set = (list: Ref[], change: Partial<Ref>) => at(list) >= 0 && Object.assign(list[at(list)]!, change) !== undefined;
  const removes = kind === "remove";
  const field = { label: text, value: text, section: other };
  return fc.constantFrom<Step>(
    {
      operation: { op: kind, path: `/sections/${escape(name)}`, value: { label: text } },
      run({ sections, fields }) {
        if (removes) for (const one of fields) if (one.section === name && at(sections) >= 0) one.section = undefined;
        return put(sections, { id: name, label: text });
      },
    },
    {
      operation: { op: kind, path: `/fields/${escape(name)}`, value: { label: text, value: text, section: { id: other } } },
      run: ({ fields }) => put(fields, { id: name, ...field }),
    },
    {
      operation: { op: kind, path: `/fields/${escape(name)}/value`, value: text },
      run: ({ fields }) => set(fields, { value: removes ? "" : text }),
    },
    {
      operation: { op: kind, path: `/fields/${escape(name)}/section`, value: { id: other } },
      run: ({ fields }) => set(fields, { section: removes ? undefined : other }),
    },
    {
      operation: { op: kind, path: `/sections/${escape(name)}/label`, value: text },
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

/** Runs a step and adds each section that a field names and the Item does not declare (contract 2.15). */
function runStep(model: Model, { run }: Step): boolean {
  const accepted = run(model);
  for (const { section } of model.fields) {
    if (section === undefined || model.sections.some((one) => one.id === section)) continue;
    model.sections.push({ id: section, label: "" });
  }
  return accepted;
}

/** The expected result of the steps. `duplicate`: two fields or two sections have one id (contract 2.14). */
function expected(steps: Step[]): [outcome: "applied" | "refused" | "duplicate", result: object] {
  const model = structuredClone(START);
  const refused = steps.findIndex((step) => !runStep(model, step));
  if (refused >= 0) return ["refused", { ok: false, failure: refusal(refused, steps[refused]!.operation.path) }];
  if (!distinct(model.fields) || !distinct(model.sections)) return ["duplicate", REFUSED];
  return ["applied", { ok: true, value: itemOf(model) }];
}

/** Contract 6.5 and 6.9: the failure names a missing field; any other failure names the operation's index and path. */
function refusal(at: number, path: string): object {
  const [, list, name = ""] = path.split("/");
  return list === "fields"
    ? { kind: "missing_field", detail: name.replaceAll("~1", "/").replaceAll("~0", "~") }
    : { kind: "invalid", detail: expect.stringContaining(`operation ${at} (${path})`) };
}

describe("applyPatch", () => {
  it("changes tags, urls, fields and sections as the reference model does, and refuses the operation that the model refuses", () => {
    const outcomes = { applied: 0, refused: 0, duplicate: 0 };
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, record, record), { maxLength: 6 }), (steps) => {
        const item = itemOf(START);
        const draft = applyPatch(
          item,
          steps.map((step) => step.operation),
        );
        const [outcome, result] = expected(steps);
        outcomes[outcome]++;
        expect(draft.ok ? complete(draft.value, FRAME, item, random) : draft).toEqual(result);
      }),
      { numRuns: runs(2_000) },
    );
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(10);
  });

  it("does not modify the Item in its argument", () => {
    const item = itemOf(START);
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, record), { maxLength: 5 }), (steps) => {
        applyPatch(
          item,
          steps.map((step) => step.operation),
        );
        expect(item).toEqual(itemOf(START));
      }),
      { numRuns: runs(150) },
    );
  });
});
