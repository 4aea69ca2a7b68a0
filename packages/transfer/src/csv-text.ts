/** Tables for spreadsheets. */

/** Returns rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe, because programs choose their own names. */
export const csvText = (rows: readonly (readonly (string | number)[])[], lineBreak = "\r\n"): string =>
  rows.map((row) => row.map(cellOf).join(",") + lineBreak).join("");

function cellOf(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
