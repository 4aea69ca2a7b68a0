/** Returns a time of RFC 3339 as tables show it, in UTC to the second: `2026-11-22 07:03:12Z`. */
export const timeOf = (date: string): string => date && `${date.slice(0, 19).replace("T", " ")}Z`;
