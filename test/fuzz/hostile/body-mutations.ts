import * as fc from "fast-check";

/** Mutations of valid request bodies. */

const { constantFrom, oneof } = fc;

/** Values of unexpected types. `"<deep>"` and `"<1e999>"` are written without their quotes. */
const unexpectedValue = oneof(
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
type Mutation = readonly [position: number[], what: "replace" | "delete" | "wrap" | "rename", by: unknown];
const mutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.array(fc.nat(7), { maxLength: 3 }),
  constantFrom("replace", "replace", "delete", "wrap", "rename"),
  unexpectedValue,
);

/** Changes the one part of a JSON value that the numbers of the mutation address. */
function mutated(value: unknown, [[step, ...deeper], what, by]: Mutation): unknown {
  const entries: [string, unknown][] = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0 || step === undefined) return { replace: by, delete: undefined, wrap: [value], rename: value }[what];
  const at = step % entries.length;
  const [key, inner] = entries[at]!;
  const name = what === "rename" && deeper.length === 0 ? key.toUpperCase() : key;
  const changed = entries.with(at, [name, mutated(inner, [deeper, what, by])]);
  return Array.isArray(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}

const DEEP = `${"[".repeat(40)}${"]".repeat(40)}`;
/** Replaces the secret in the path of an operation, because messages repeat the path. */
const withoutSecret = (key: string, value: unknown) =>
  key === "path" && typeof value === "string" ? value.replaceAll("<secret>", "<name>") : value;
const write = (value: unknown) =>
  (JSON.stringify(value, withoutSecret) ?? "").replaceAll('"<deep>"', DEEP).replaceAll('"<1e999>"', "1e999");

/** Mutations of the JSON text, mostly none. */
const textMutation = oneof(
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

/** A body of that shape as text, with up to two mutations of its values and one of its text. */
export const bodyOf = (shape: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      shape,
      oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 2 }) },
      ),
      textMutation,
    )
    .map(([value, mutations, mutateText]) => mutateText(write(mutations.reduce<unknown>(mutated, value))));
