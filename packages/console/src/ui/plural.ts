/** Returns a number with its noun for people: `1 item`, `2 items`, `12,000 items`. `many` is the plural of a noun that takes no s. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? noun : many}`;
