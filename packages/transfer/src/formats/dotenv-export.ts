import { createVariableNames, isVariableName, quote } from "../dotenv.ts";
import type { ExportFormat } from "../format.ts";
import type { TransferField, TransferItem } from "../item.ts";
import { Losses } from "../losses.ts";

/** Writes `.env`: a line `NAME=value` for each field with a value. */

export const dotenvExport: ExportFormat = {
  name: "dotenv",
  summary: ".env: a variable for each field with a value, no Files",
  write: (items) => {
    const losses = new Losses();
    const named = createVariableNames();
    const lines = items.flatMap((item) => presentItem(item, { losses, named, several: items.length > 1 }));
    return Promise.resolve({ bytes: new TextEncoder().encode(lines.join("")), losses: losses.list() });
  },
};

interface Context {
  readonly losses: Losses;
  readonly named: (label: string) => string;
  readonly several: boolean;
}

function presentItem(item: TransferItem, { losses, named, several }: Context): string[] {
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
    return [`${named(labelOf(field, title, several))}=${quoted}\n`];
  });
}

/** A label that is the name of a variable stays, so that an `.env` file that was imported comes out as it was. */
function labelOf({ label, id, purpose }: TransferField, title: string, several: boolean): string {
  const own = label || id || purpose || "value";
  return isVariableName(own) || (!several && /^[A-Za-z_]\w*$/.test(own)) ? own : `${title}_${own}`;
}
