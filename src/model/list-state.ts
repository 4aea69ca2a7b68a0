/** What a list of Items depends on besides its request (contract 11.11), and its entity tag. */

/**
 * The state of a vault: every change of an entry of its lists changes one of these. The versions alone would not do, because a restored
 * database repeats them; `items` changes where a repair removes a row.
 */
export interface ListState {
  readonly contentVersion: number;
  readonly attributeVersion: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  readonly items: number;
}

const numbersOf = ({ contentVersion, attributeVersion, updatedAt, items }: ListState): readonly number[] => [
  contentVersion,
  attributeVersion,
  updatedAt,
  items,
];

/** The entity tag of a list, with its quotes. In: a hash of the request, in characters of base64. */
export const listTag = (state: ListState, request: string): string => `"${numbersOf(state).join("-")}-${request}"`;

/** The state of which `If-None-Match` has a tag for the same request; `undefined` without one. In: as `listTag`. */
export function stateIn(header: string | undefined, request: string): ListState | undefined {
  for (const [, numbers, asked] of header?.matchAll(/"(\d{1,16}-\d{1,16}-\d{1,16}-\d{1,16})-([\w+/=]+)"/g) ?? []) {
    const [contentVersion, attributeVersion, updatedAt, items] = numbers!.split("-").map(Number) as [
      number,
      number,
      number,
      number,
    ];
    if (asked === request) return { contentVersion, attributeVersion, updatedAt, items };
  }
  return undefined;
}
