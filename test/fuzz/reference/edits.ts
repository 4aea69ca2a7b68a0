import type { PatchOperation } from "../../../src/model/patch-input.ts";
import { type Reader, refuse } from "./values.ts";

/** Pointers, and the edits of lists and attributes, in place: for patch.ts. */

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

/** The place in a list of that length: by its number in its only spelling, or `-` behind the last one. */
export function index(token: string, length: number, op: PatchOperation["op"]): number {
  const places = Array.from({ length: op === "add" ? length + 1 : length }, (_, place) => String(place));
  if (op === "add" && token === "-") return length;
  return places.includes(token) ? Number(token) : refuse();
}

export function editEntry<T>(all: T[], token: string, op: PatchOperation["op"], read: () => T): void {
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
  const at = all.findIndex((one) => one.id === id);
  if (at < 0 && op !== "add") missing();
  if (op === "remove") return void all.splice(at, 1);
  const one = read();
  if (id === "" || (one.id ?? id) !== id) refuse();
  all.splice(at < 0 ? all.length : at, at < 0 ? 0 : 1, { ...one, id });
}

export function editAttribute(one: object, name: string, known: Record<string, Reader<unknown>>, given: () => unknown): void {
  const read = Object.hasOwn(known, name) ? known[name]! : refuse();
  Object.assign(one, { [name]: read(given()) });
}
