import { type Dialect, DIALECTS } from "./dialect.ts";
import type { Field } from "./item.ts";
import type { Attribute, Reference } from "./reference.ts";
import { invalid, ok, type Result } from "./result.ts";
import { codeOfField } from "./totp.ts";

/** What a reference says of a field, by its attribute (contract 16.7). */

/** What the answer to a reference depends on besides the field. */
export interface ReferenceContext {
  readonly dialect: Dialect;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Out: `undefined` when the field has no such attribute. */
const ATTRIBUTES: Readonly<Record<Attribute, (field: Field, context: ReferenceContext) => string | undefined>> = {
  value: ({ type, value }, { dialect }) => DIALECTS[dialect].fieldValue(type, value),
  type: ({ type }) => type,
  label: ({ label }) => label,
  otp: (field, { now }) => codeOfField(field, now),
};

/** The attribute of a field that a reference asks for. Errors: 400, for the one-time password of a field that has none. */
export function attributeOf(field: Field, { attribute }: Reference, context: ReferenceContext): Result<string> {
  const value = ATTRIBUTES[attribute](field, context);
  return value === undefined ? invalid("the field has no one-time password") : ok(value);
}
