/** What a list of Items depends on besides its request (contract 11.11), and its entity tag. */

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

/** Whether two states are the same. */
export const isSameState = (one: ListState, other: ListState): boolean =>
  numbersOf(one).every((number, index) => number === numbersOf(other)[index]);

/** The entity tag of a list, with its quotes. In: the MAC of the request and of what else the list depends on, in base64. */
export const listTag = (state: ListState, mac: string): string => `"${numbersOf(state).join("-")}-${mac}"`;

/** The state of the first tag of a list in `If-None-Match`, whatever its MAC; `undefined` without one. */
export function stateIn(header: string | undefined): ListState | undefined {
  const [, ...numbers] = /"(\d{1,16})-(\d{1,16})-(\d{1,16})-[\w+/=]+"/.exec(header ?? "") ?? [];
  if (numbers.length === 0) return undefined;
  const [contentVersion, attributeVersion, updatedAt] = numbers.map(Number) as [number, number, number];
  return { contentVersion, attributeVersion, updatedAt };
}
