import type { Options } from "../frame/command.ts";
import { type Io, write } from "../frame/io.ts";
import { escapeHidden, printable } from "../frame/printable.ts";
import { dotenvOf, type Variable } from "./dotenv.ts";

/** The format of a command's output: `--format`. */

const FORMATS = ["table", "json", "yaml"] as const;

export const FORMAT_OPTION = {
  format: { type: "string", value: "FORMAT", summary: "table (default), json or yaml", choices: FORMATS },
} as const satisfies Options;

/** For commands that show one Item. */
export const ITEM_FORMAT_OPTION = {
  format: {
    type: "string",
    value: "FORMAT",
    summary: "table (default), json, yaml, dotenv or vars",
    choices: [...FORMATS, "dotenv", "vars"],
  },
  reveal: { type: "boolean", summary: "show the secret values in the table" },
} as const satisfies Options;

/** One answer in each format. The parts are made only when they are written. */
export interface Shown {
  /** The JSON of the API. */
  readonly json: unknown;
  /** `columns` is the width of the terminal, or undefined for another output, which is never cut. */
  readonly table: (columns: number | undefined) => string;
  readonly variables?: () => readonly Variable[];
  readonly values?: () => Values;
}

/** The values of one Item by label, and the fields that no label names. */
export interface Values {
  readonly byLabel: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

/** Returns JSON without characters that a terminal obeys or does not show. `indent` is a number of spaces. */
export const jsonOf = (value: unknown, indent = 0): string =>
  escapeHidden(JSON.stringify(value, undefined, indent), (character) =>
    character
      .split("")
      .map((unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

type Writer = (shown: Shown, columns: number | undefined, io: Io) => string | Promise<string>;

const WRITERS: Readonly<Record<string, Writer>> = {
  table: ({ table }, columns) => table(columns),
  json: ({ json }) => `${jsonOf(json, 2)}\n`,
  yaml: async ({ json }) => (await import("./yaml.ts")).yamlOf(json),
  dotenv: ({ variables }) => dotenvOf(variables?.() ?? []),
  async vars({ values }, _, io) {
    const { byLabel = {}, leftOut = [] } = values?.() ?? {};
    if (leftOut.length > 0) await tell(io, `Left out, because other fields have their labels: ${leftOut.join(", ")}`);
    return `${jsonOf(byLabel, 2)}\n`;
  },
};

/** Writes to stdout. Throws a CliError for a value that the format cannot hold. */
export async function show(io: Io, format: string | undefined, shown: Shown): Promise<void> {
  const { stdout } = io;
  // A terminal that does not know its width says 0.
  const columns = (stdout.isTTY && stdout.columns) || undefined;
  await write(stdout, await WRITERS[format ?? "table"]!(shown, columns, io));
}

/** Returns true if `show` writes a table, which has names instead of ids. */
export const isTable = (format: string | undefined): boolean => (format ?? "table") === "table";

/** A line to stderr. */
export const tell = ({ stderr }: Io, message: string): Promise<void> => write(stderr, `${printable(message)}\n`);
