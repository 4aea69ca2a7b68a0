import { LIMITS } from "@item-vault/model/limits";
import { isObeyedVariable } from "@item-vault/model/variables";
import { parseDotenv } from "../dotenv.ts";
import { sourceFault } from "../error.ts";
import type { ImportFormat } from "../format.ts";
import { emptyState } from "../item-parts.ts";
import type { Transfer, TransferItem } from "../item.ts";
import { Losses } from "../losses.ts";
import { decodeText } from "../text.ts";

/** Variables of a `.env` file: one Item with a field for each. */
export const dotenv: ImportFormat = {
  name: "dotenv",
  summary: ".env: one item with a field per variable",
  matches: (_, fileName) => /^\.(env|dev\.vars)(\.|$)|\.env$/.test(fileName),
  read: async (bytes, { fileName }) => await readDotenv(decodeText(bytes, "The file"), fileName),
};

async function readDotenv(text: string, fileName: string): Promise<Transfer> {
  const losses = new Losses();
  const variables = [...parseDotenv(text, "The file", (what, where) => losses.add(what, where))];
  for (const [name] of variables)
    if (isObeyedVariable(name))
      losses.add("names of variables that shells or programs obey (kept; an export to .env renames them)", name);
  if (variables.length === 0) throw sourceFault("The file", "has no variables");
  const items: TransferItem[] = [];
  for (let first = 0; first < variables.length; first += LIMITS.list) {
    const part = variables.slice(first, first + LIMITS.list);
    items.push({
      ...emptyState(first === 0 ? fileName : `${fileName} ${first / LIMITS.list + 1}`, "API_CREDENTIAL"),
      fields: part.map(([label, value]) => ({ label, type: "CONCEALED", value })),
      sourceId: undefined,
      vault: undefined,
      archived: false,
      files: [],
      history: [],
    });
  }
  return { source: "dotenv", items, losses: losses.list() };
}
