import util from "node:util";
import { CliError } from "../../frame/failure.ts";
import { LIMITS } from "../../../../src/model/limits.ts";
import { emptyState } from "../build.ts";
import { Losses } from "../losses.ts";
import type { ImportFormat, Transfer, TransferItem } from "../model.ts";
import { decodeText, sourceFault } from "../text.ts";

/** Variables of a `.env` file, as Node reads them (nodejs.org/api/util.html#utilparseenvcontent): one Item with a field for each. */
export const dotenv: ImportFormat = {
  name: "dotenv",
  summary: ".env: one Item with a field per variable",
  matches: (_, fileName) => /^\.(env|dev\.vars)(\.|$)|\.env$/.test(fileName),
  read: async (bytes, { fileName }) => await readDotenv(decodeText(bytes, "The file"), fileName),
};

async function readDotenv(text: string, fileName: string): Promise<Transfer> {
  // Node 20 has it since 20.12. A named import would end the program on earlier ones.
  if (typeof util.parseEnv !== "function")
    throw new CliError("This Node cannot read .env files", { exit: "failed", hint: "Use Node 20.12 or later." });
  const losses = new Losses();
  scan(text, losses);
  const variables = Object.entries(util.parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined);
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

const ASSIGNMENT = /^\s*(?:export\s+)?([^\s=#]+)\s*=[^\S\n]*(.*)$/;

/** Counts what is not kept. Errors: throws a CliError for a quoted value without an end, which a file that is cut off has. */
function scan(text: string, losses: Losses): void {
  const lines = text.split(/\r?\n/);
  const names = new Set<string>();
  for (let n = 0; n < lines.length; n++) {
    const [line, first] = [lines[n]!, n + 1];
    const [, name, start = ""] = ASSIGNMENT.exec(line) ?? [];
    if (name === undefined) {
      const isComment = line.trimStart().startsWith("#");
      if (line.trim() !== "") losses.add(isComment ? "comments" : "lines that set no variable");
      continue;
    }
    if (names.has(name)) losses.add("variables that the file sets again later");
    names.add(name);
    const quote = /^["'`]/.exec(start)?.[0];
    if (quote === undefined) {
      if (start.includes("#")) losses.add("comments");
      continue;
    }
    let rest = start.slice(1);
    for (; !rest.includes(quote); rest = lines[n]!) {
      if (++n === lines.length) throw sourceFault(`Line ${first}`, "has a quote that is not closed");
    }
    if (rest.slice(rest.indexOf(quote) + 1).includes("#")) losses.add("comments");
  }
}
