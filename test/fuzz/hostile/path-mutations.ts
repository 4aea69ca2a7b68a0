import * as fc from "fast-check";

/** Mutations of the paths that the service serves. */

const { constantFrom, oneof } = fc;

const IDS =
  "<vault.short> <vault.upper> <vault.escaped> <foreign> <unknown> <unknown.short> <vault>x {<vault>} <item> <name>".split(" ");
const MALFORMED = `. .. %2e%2e %2F %00 \0 % %zz %ff * :vault 😀 %F0%9F%98%80 <endless> <name>${"😀".repeat(40)} ? # \\ ; @`.split(
  " ",
);
const WORDS = "v1 V1 v2 vaults items files content admin __proto__".split(" ");
const segment = oneof(constantFrom(...IDS), constantFrom("", ...MALFORMED), constantFrom(...WORDS));

/** One change of a path. */
export type PathMutation = readonly [at: number, what: "replace" | "insert" | "truncate" | "double" | "encode", by: string];
export const pathMutation: fc.Arbitrary<PathMutation> = fc.tuple(
  fc.nat(8),
  constantFrom("replace", "replace", "replace", "insert", "truncate", "double", "encode"),
  segment,
);

export function mutatePath(path: string, [at, what, by]: PathMutation): string {
  const segments = path.split("/");
  const place = 1 + (at % (segments.length - 1));
  const old = segments[place]!;
  if (what === "truncate") return segments.slice(0, place).join("/") || "/";
  const escaped = old.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const replacements = { replace: [by], insert: [by, old], double: ["", old, ""], encode: [escaped] };
  return segments.toSpliced(place, 1, ...replacements[what]).join("/");
}
