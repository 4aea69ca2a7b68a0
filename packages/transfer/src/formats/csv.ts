import type { ImportFormat } from "../format.ts";
import { decodeText } from "../text.ts";
import { type Dialect, DIALECTS } from "./csv/dialects.ts";
import { isOf } from "./csv/header.ts";

/** The CSV files of programs, and `csv`: any other CSV file, whose columns the user assigns. */

const formatOf = (dialect: Dialect): ImportFormat => ({
  name: dialect.name,
  summary: `${dialect.program}: CSV`,
  hasColumns: true,
  matches: (head) => isOf(dialect, head),
  read: async (bytes, { columns }) => {
    const text = decodeText(bytes, "The file");
    return await (await import("./csv/read.ts")).readCsv(text, dialect, columns);
  },
});

/** The CSV files of the programs of the table. */
export const CSV_FORMATS: readonly ImportFormat[] = DIALECTS.map(formatOf);

/** A CSV file of no known program. It is never recognized, because the user chooses the parts of its columns. */
export const csv: ImportFormat = {
  name: "csv",
  summary: "Any other app: CSV, where you say what each column is",
  hasColumns: true,
  matches: () => false,
  read: async (bytes, { columns }) => {
    const text = decodeText(bytes, "The file");
    return await (await import("./csv/read.ts")).readCsv(text, undefined, columns);
  },
};
