/** The two forms of a date that a field can hold (contract 2). */

/** `YYYY-MM-DD`, a day of the Gregorian calendar (RFC 3339 full-date); or Unix seconds. */
export function isDate(value: string): boolean {
  if (/^-?\d{1,12}$/.test(value)) return true;
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day); // Date.UTC reads the years 0–99 as 1900–1999
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** `YYYYMM` or `YYYY/MM`. */
export const isMonthYear = (value: string): boolean => /^\d{4}\/?(0[1-9]|1[0-2])$/.test(value);
