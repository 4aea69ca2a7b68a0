import { quote } from "../dotenv.ts";
import { Losses } from "../losses.ts";
import type { ExportFormat } from "../format.ts";
import type { TransferField, TransferItem } from "../item.ts";

/** Writes `.env`: a line `NAME=value` for each field with a value. */

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const dotenvExport: ExportFormat = {
  name: "dotenv",
  summary: ".env: a variable for each field with a value, no Files",
  write: (items) => {
    const losses = new Losses();
    const taken = new Set<string>();
    const lines = items.flatMap((item) => presentItem(item, { losses, taken, several: items.length > 1 }));
    return Promise.resolve({ bytes: new TextEncoder().encode(lines.join("")), losses: losses.list() });
  },
};

interface Context {
  readonly losses: Losses;
  /** The names that are in use. */
  readonly taken: Set<string>;
  readonly several: boolean;
}

function presentItem(item: TransferItem, { losses, taken, several }: Context): string[] {
  const { title, files, history, urls, tags } = item;
  losses.add("Files", title, files.length);
  losses.add("earlier versions", title, history.length);
  losses.add("addresses of Items (urls)", title, urls.length);
  losses.add("tags", title, tags.length);
  return item.fields.flatMap((field) => {
    const { value = "" } = field;
    if (value === "") return [];
    const quoted = quote(value);
    if (quoted === undefined) {
      losses.add(
        'values that .env cannot quote (with a single quote and one of " $ ` \\, with a carriage return, or with a backslash at the end)',
        title,
      );
      return [];
    }
    const name = freeName(nameOf(field, title, several), taken);
    return [`${name}=${quoted}\n`];
  });
}

/** A label that is the name of a variable stays, so that an `.env` file that was imported comes out as it was. */
function nameOf({ label, id, purpose }: TransferField, title: string, several: boolean): string {
  const own = label || id || purpose || "value";
  if (NAME.test(own) && own === own.toUpperCase()) return own;
  const words = several || !NAME.test(own) ? `${title}_${own}` : own;
  const name = words
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let next = 2; taken.has(free); next++) free = `${name}_${next}`;
  taken.add(free);
  return free;
}
