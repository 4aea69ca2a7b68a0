import * as fc from "fast-check";

/** How a hostile client damages a body that would do. */

const { constantFrom, oneof } = fc;

/** What stands where it should not. `"<deep>"` and `"<1e999>"` lose their quotes. */
const odd = oneof(
  constantFrom<unknown>(
    null,
    0,
    -1,
    1.5,
    2 ** 53,
    true,
    "",
    [],
    {},
    [[]],
    [null],
    { id: null },
    { id: ["<secret>"] },
    { "<name>": "<secret>" },
  ),
  constantFrom<unknown>(
    "<secret>",
    "<deep>",
    "<1e999>",
    "<mega>",
    { toString: "<secret>" },
    JSON.parse('{"__proto__": {"id": "<secret>"}}'),
  ),
  fc.array(constantFrom("<secret>"), { minLength: 1001, maxLength: 1001 }).map((list) => ({ list })),
);
type Damage = readonly [where: number[], what: "replace" | "delete" | "wrap" | "rename", by: unknown];
const damage: fc.Arbitrary<Damage> = fc.tuple(
  fc.array(fc.nat(7), { maxLength: 3 }),
  constantFrom("replace", "replace", "delete", "wrap", "rename"),
  odd,
);

/** Changes one thing in a JSON value: that which the numbers lead to. */
function damaged(value: unknown, [[step, ...deeper], what, by]: Damage): unknown {
  const entries: [string, unknown][] = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0 || step === undefined) return { replace: by, delete: undefined, wrap: [value], rename: value }[what];
  const at = step % entries.length;
  const [key, inner] = entries[at]!;
  const name = what === "rename" && deeper.length === 0 ? key.toUpperCase() : key;
  const changed = entries.with(at, [name, damaged(inner, [deeper, what, by])]);
  return Array.isArray(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}

const DEEP = `${"[".repeat(40)}${"]".repeat(40)}`;
/** The path of an operation is echoed: no secret in it. */
const spare = (key: string, value: unknown) =>
  key === "path" && typeof value === "string" ? value.replaceAll("<secret>", "<name>") : value;
const write = (value: unknown) =>
  (JSON.stringify(value, spare) ?? "").replaceAll('"<deep>"', DEEP).replaceAll('"<1e999>"', "1e999");

/** What comes of a text: as it is, or spoilt. */
const spoil = oneof(
  { weight: 12, arbitrary: fc.constant((whole: string) => whole) },
  {
    weight: 1,
    arbitrary: constantFrom<(whole: string) => string>(
      (whole) => whole.slice(0, -1),
      (whole) => `\ufeff${whole}`,
      (whole) => `${whole}<secret>`,
      (whole) => whole.replace("{", '{"title": "<secret>", "title": 7, '),
      (whole) => `${" ".repeat(1000)}${whole}`,
      (whole) => whole.replace(/"/, "'"),
      () => "",
      () => '{"<secret>": ',
      () => '"<secret>"',
      () => "<mega>",
    ),
  },
);

/** A body as text: of that shape, more or less. */
export const bodyOf = (shape: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      shape,
      oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(damage, { minLength: 1, maxLength: 2 }) },
      ),
      spoil,
    )
    .map(([value, damages, spoilt]) => spoilt(write(damages.reduce<unknown>(damaged, value))));
