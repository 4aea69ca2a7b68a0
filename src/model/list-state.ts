/** The state that determines a list of Items besides the request (contract 11.11), and its entity tag. */

/** The state of a vault. A write to the vault changes it; the versions alone would not do, because a restored database repeats them. */
export interface ListState {
  readonly contentVersion: number;
  readonly attributeVersion: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

const numbersOf = ({ contentVersion, attributeVersion, updatedAt }: ListState): readonly number[] => [
  contentVersion,
  attributeVersion,
  updatedAt,
];

/** Returns true if two states are equal. */
export const isSameState = (one: ListState, other: ListState): boolean =>
  numbersOf(one).every((number, index) => number === numbersOf(other)[index]);

/** Returns the entity tag of a list, with its quotes. `mac` is the MAC of the request and all other inputs of the list, in base64. */
export const listTag = (state: ListState, mac: string): string => `"${numbersOf(state).join("-")}-${mac}"`;

/** Returns the state in the first list tag of `If-None-Match`, whatever its MAC. Returns undefined if there is no such tag. */
export function stateIn(header: string | undefined): ListState | undefined {
  const [, ...numbers] = /"(\d{1,16})-(\d{1,16})-(\d{1,16})-[\w+/=]+"/.exec(header ?? "") ?? [];
  if (numbers.length === 0) return undefined;
  const [contentVersion, attributeVersion, updatedAt] = numbers.map(Number) as [number, number, number];
  return { contentVersion, attributeVersion, updatedAt };
}
