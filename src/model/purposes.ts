/** The consequences of a field's purpose (contract 2). */

interface Rules {
  /** The id and label of a field that has neither. */
  readonly name?: string;
  /** The type that replaces the field's own. */
  readonly type?: "CONCEALED";
  /** True if answers include the entropy of the value. */
  readonly entropy?: true;
}

export const PURPOSES = {
  "": {},
  USERNAME: { name: "username" },
  PASSWORD: { name: "password", type: "CONCEALED", entropy: true },
  NOTES: { name: "notesPlain" },
} as const satisfies Readonly<Record<string, Rules>>;

export type Purpose = keyof typeof PURPOSES;

/** Returns the id and label that a purpose gives. Returns `undefined` for `""`, and for a text that is not a purpose. */
export const nameOfPurpose = (purpose: string): string | undefined =>
  Object.hasOwn(PURPOSES, purpose) ? purposeRules(purpose as Purpose).name : undefined;

/** Returns the purpose that gives a field this name, `undefined` if none does. */
export const purposeOfName = (name: string): Purpose | undefined =>
  (Object.keys(PURPOSES) as Purpose[]).find((purpose) => purposeRules(purpose).name === name);

export const purposeRules = (purpose: Purpose): Rules => PURPOSES[purpose];
