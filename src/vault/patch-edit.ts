import type * as z from "zod";
import type { PatchOperation } from "../model/patch-input.ts";
import { parseIndex } from "../model/pointer.ts";
import { invalid, ok, type Refusal, type Result } from "../model/result.ts";
import { explain, text } from "../model/text.ts";

/** The three kinds of edits of a PATCH: a list by index, a list by id, an attribute by name. Each returns a new value. */

/** The attributes that no PATCH may change (contract 6). */
export const READ_ONLY = new Set([
  "id",
  "vault",
  "version",
  "createdAt",
  "updatedAt",
  "lastEditedBy",
  "state",
  "files",
  "entropy",
  "totp",
]);

/** Edits a list whose entries have ids: add one at the end (`[]`), edit one (`[id]`), or one of its attributes (`[id, attribute]`). */
export function editRecord<R extends { id?: string | undefined }>(
  list: R[],
  rest: readonly string[],
  operation: PatchOperation,
  schema: z.ZodType<R>,
  attributes: Attributes,
  missing: (id: string) => Refusal,
): Result<R[]> {
  const [id, attribute, ...deeper] = rest;
  if (deeper.length > 0) return invalid("the path goes too deep");
  if (id === undefined) return map(valueOf(operation, schema), (entry) => [...list, entry]);
  const index = list.findIndex((entry) => entry.id === id);
  if (attribute !== undefined) {
    const entry = list[index];
    return entry
      ? map(editAttribute(entry, attribute, operation, attributes), (edited) => list.with(index, edited))
      : missing(id);
  }
  if (index < 0 && operation.op !== "add") return missing(id);
  if (operation.op === "remove") return ok(list.toSpliced(index, 1));
  const named = entryId.safeParse(id);
  if (!named.success) return invalid(`the path's ${explain(named.error, "id")}`);
  const entry = valueOf(operation, schema);
  if (!entry.ok) return entry;
  if (entry.value.id !== undefined && entry.value.id !== id) return invalid("the value has another id than the path");
  const edited = { ...entry.value, id };
  return ok(index < 0 ? [...list, edited] : list.with(index, edited));
}

/** An id in the path has to be valid in a body too. */
const entryId = text().min(1, "is empty");

/** Edits a list by index. */
export function editEntry<V>(list: V[], token: string, operation: PatchOperation, schema: z.ZodType<V>): Result<V[]> {
  const index = parseIndex(token, list.length, operation.op);
  if (!index.ok) return index;
  if (operation.op === "remove") return ok(list.toSpliced(index.value, 1));
  return map(valueOf(operation, schema), (value) => list.toSpliced(index.value, operation.op === "add" ? 0 : 1, value));
}

type Attributes = Readonly<Record<string, z.ZodType>>;

export function editAttribute<R extends object>(
  record: R,
  name: string,
  operation: PatchOperation,
  attributes: Attributes,
): Result<R> {
  if (READ_ONLY.has(name)) return invalid("is read-only");
  const schema = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (!schema) return invalid("names no attribute that can be changed");
  return map(valueOf(operation, schema), (value) => ({ ...record, [name]: value }));
}

/** The operation's value, parsed by the schema. `remove` gives the value that the schema gives to an absent attribute. */
export function valueOf<V>(operation: PatchOperation, schema: z.ZodType<V>): Result<V> {
  const removes = operation.op === "remove";
  if (!removes && (operation.value ?? undefined) === undefined) return invalid("needs a value");
  const parsed = schema.safeParse(removes ? undefined : operation.value);
  return parsed.success ? ok(parsed.data) : invalid(explain(parsed.error, "value"));
}

const map = <A, B>(result: Result<A>, f: (value: A) => B): Result<B> => (result.ok ? ok(f(result.value)) : result);
