import type { Edit } from "../../../src/model/item-input.ts";
import { type Reader, refuse } from "./values.ts";

/** Pointers, and edits of lists and attributes in place, for the reference implementation in patch.ts. */

/** The tokens of a pointer (RFC 6901). */
export function pointer(path: string): string[] {
  const [before, ...tokens] = path.split("/");
  if (before !== "" || tokens.length === 0) refuse();
  return tokens.map((token) => {
    const [start = "", ...escapes] = token.split("~");
    const unescaped = escapes
      .map((one) => ({ "0": "~", "1": "/" })[one[0] ?? ""] ?? refuse())
      .map((to, at) => to + escapes[at]!.slice(1));
    return start + unescaped.join("");
  });
}

/** The position in a list of that length: its index in canonical form, or `-` for the end of the list. */
export function index(token: string, length: number, op: Edit["op"]): number {
  const indexes = Array.from({ length: op === "add" ? length + 1 : length }, (_, position) => String(position));
  if (op === "add" && token === "-") return length;
  return indexes.includes(token) ? Number(token) : refuse();
}

export function editEntry<T>(all: T[], token: string, op: Edit["op"], read: () => T): void {
  const at = index(token, all.length, op);
  if (op === "remove") all.splice(at, 1);
  else all.splice(at, op === "add" ? 0 : 1, read());
}

export function editRecord<T extends { id?: string | undefined }>(
  all: T[],
  id: string,
  op: string,
  read: () => T,
  missing: () => never,
): void {
  if (op === "add" && id === "-") return void all.push(read());
  const at = all.findIndex((one) => one.id === id);
  if (at < 0 && op !== "add") missing();
  if (op === "remove") return void all.splice(at, 1);
  const one = read();
  if (id === "" || (one.id ?? id) !== id) refuse();
  all.splice(at < 0 ? all.length : at, at < 0 ? 0 : 1, { ...one, id });
}

export function editAttribute(
  one: object,
  name: string,
  attributes: Record<string, Reader<unknown>>,
  value: () => unknown,
): void {
  const read = Object.hasOwn(attributes, name) ? attributes[name]! : refuse();
  Object.assign(one, { [name]: read(value()) });
}
