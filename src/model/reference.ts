import { fail, invalid, ok, type Refusal, type Result } from "./result.ts";

/**
 * Secret references (contract 16): `op://<vault>/<item>/[<section>/]<field>[?attribute=…]`, the syntax of
 * developer.1password.com/docs/cli/secret-reference-syntax.
 */
export interface Reference {
  /** A name or an id, as are the other parts. */
  readonly vault: string;
  readonly item: string;
  readonly section: string | undefined;
  /** A field, or a File. */
  readonly field: string;
  readonly attribute: Attribute;
}

/** The values of `?attribute=`. store/references/search.ts maps each to a part of a field. */
const ATTRIBUTES = ["value", "type", "label", "otp"] as const;

export type Attribute = (typeof ATTRIBUTES)[number];

const SCHEME = /^op:\/\//i;
/**
 * The characters of a part of a reference besides spaces, for a character class with the flag `u`: letters, marks and digits of
 * any script. Marks are included, so that a name is accepted in every normalization.
 */
export const PART_CHARACTERS = String.raw`\p{L}\p{M}\p{N}\-_.`;

const PART = new RegExp(`^[${PART_CHARACTERS} ]+$`, "u");

/** Returns true if a name or an id can be a part of a reference unchanged. */
export const isReferencePart = (text: string): boolean => PART.test(text);

/** Returns true if a text begins like a reference, which may be malformed. */
export const isLikeReference = (text: string): boolean => SCHEME.test(text.trim());

/** Parses a reference, without the blanks around it. Fails with a 400 that names the part and its fault, and repeats nothing of the text. */
export function parseReference(given: string): Result<Reference> {
  const text = given.trim();
  if (!SCHEME.test(text)) return invalid("the reference does not begin with op://");
  const rest = text.replace(SCHEME, "");
  const mark = rest.indexOf("?");
  const parts = (mark < 0 ? rest : rest.slice(0, mark)).split("/");
  const names = NAMES[parts.length];
  if (!names) return invalid("the reference is not op://vault/item/field or op://vault/item/section/field");
  const wrong = parts.findIndex((part) => !isReferencePart(part));
  if (wrong >= 0) return invalid(`the ${names[wrong]} ${parts[wrong] === "" ? "of the reference is empty" : UNSUPPORTED}`);
  const attribute = parseAttribute(mark < 0 ? "" : rest.slice(mark + 1));
  if (!attribute.ok) return attribute;
  const [vault = "", item = ""] = parts;
  const section = parts.length === 4 ? parts[2] : undefined;
  return ok({ vault, item, section, field: parts.at(-1)!, attribute: attribute.value });
}

/** The names of the parts, by their number. */
const NAMES: Readonly<Record<number, readonly string[]>> = {
  3: ["vault", "item", "field"],
  4: ["vault", "item", "section", "field"],
};

const UNSUPPORTED = "has a character other than letters, digits, -, _, . and space: use its id";

function parseAttribute(query: string): Result<Attribute> {
  const parameters = [...new URLSearchParams(query)];
  const [first] = parameters;
  if (!first) return ok("value");
  if (parameters.length > 1) return invalid("the reference has more than one parameter");
  const [name, value] = first;
  if (name.toLowerCase() !== "attribute") return invalid("the reference has a parameter other than attribute");
  const attribute = value.toLowerCase();
  return isAttribute(attribute) ? ok(attribute) : invalid("the attribute is none of value, type, label and otp");
}

const isAttribute = (text: string): text is Attribute => ATTRIBUTES.some((attribute) => attribute === text);

/** A live Item, an archived Item, and a further Item that makes the title ambiguous, even if some of them are archived (contract 16.5). */
export const SAME_TITLE_ITEMS_MAX = 3;

/** The part of a reference that names no vault. */
export const READABLE_VAULT = "vault that the token reads";

/** Refuses with 404. `part` is the part that names nothing. */
export const namesNone = (part: string): Refusal => fail("reference_not_found", part);

/** Refuses with 409. `part` is the part that names several things. */
export const namesSeveral = (part: string): Refusal => fail("ambiguous", part);
