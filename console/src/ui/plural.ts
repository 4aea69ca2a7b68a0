/** A number with its noun, for people: `1 item`, `2 items`, `12,000 items`. In: the plural of the noun, where it is not made by an s. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? noun : many}`;
