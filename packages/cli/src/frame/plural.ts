/** A number with its noun: `1 Item`, `2 Items`. In: the plural of the noun, where it is not made by an s. */
export const plural = (count: number, noun: string, many = `${noun}s`): string => `${count} ${count === 1 ? noun : many}`;
