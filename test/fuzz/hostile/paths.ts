import * as fc from "fast-check";

/** How a hostile client strays from a path that is served. */

const { constantFrom, oneof } = fc;

const IDS =
  "<vault.short> <vault.upper> <vault.escaped> <foreign> <unknown> <unknown.short> <vault>x {<vault>} <item> <name>".split(" ");
const ODD = `. .. %2e%2e %2F %00 \0 % %zz %ff * :vault 😀 %F0%9F%98%80 <endless> <name>${"😀".repeat(40)} ? # \\ ; @`.split(" ");
const WORDS = "v1 V1 v2 vaults items files content admin __proto__".split(" ");
const segment = oneof(constantFrom(...IDS), constantFrom("", ...ODD), constantFrom(...WORDS));

/** One change of a path. */
export type Detour = readonly [at: number, what: "replace" | "insert" | "cut" | "double" | "encode", by: string];
export const detour: fc.Arbitrary<Detour> = fc.tuple(
  fc.nat(8),
  constantFrom("replace", "replace", "replace", "insert", "cut", "double", "encode"),
  segment,
);

export function astray(path: string, [at, what, by]: Detour): string {
  const segments = path.split("/");
  const place = 1 + (at % (segments.length - 1));
  const old = segments[place]!;
  if (what === "cut") return segments.slice(0, place).join("/") || "/";
  const escaped = old.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const news = { replace: [by], insert: [by, old], double: ["", old, ""], encode: [escaped] };
  return segments.toSpliced(place, 1, ...news[what]).join("/");
}
