import { type ExportFormat, type ImportFormat, matchingFormats } from "@item-vault/transfer/format";
import { bitwarden } from "@item-vault/transfer/formats/bitwarden";
import { bitwardenExport, bitwardenZip } from "@item-vault/transfer/formats/bitwarden-export";
import { csv, CSV_FORMATS } from "@item-vault/transfer/formats/csv";
import { columnsIn } from "@item-vault/transfer/formats/csv/header";
import { choiceOf, CHOICES, type PartName } from "@item-vault/transfer/formats/csv/parts";
import { dotenv } from "@item-vault/transfer/formats/dotenv";
import { dotenvExport } from "@item-vault/transfer/formats/dotenv-export";
import { itemVaultImport } from "@item-vault/transfer/formats/item-vault";
import { itemVaultExport } from "@item-vault/transfer/formats/item-vault-export";
import { keepass } from "@item-vault/transfer/formats/keepass";
import { onePuxImport } from "@item-vault/transfer/formats/onepux";
import { onePuxExport } from "@item-vault/transfer/formats/onepux-export";
import { vaultKv } from "@item-vault/transfer/formats/vault-kv";
import { CliError } from "../frame/failure.ts";

/** Every format, in the order of the help. */

export const IMPORT_FORMATS: readonly ImportFormat[] = [
  onePuxImport,
  itemVaultImport,
  bitwarden,
  keepass,
  ...CSV_FORMATS,
  csv,
  dotenv,
  vaultKv,
];

export const EXPORT_FORMATS: readonly ExportFormat[] = [
  itemVaultExport,
  onePuxExport,
  dotenvExport,
  bitwardenExport,
  bitwardenZip,
];

/**
 * Returns the chosen format, else the one whose signs the file has. If the user has assigned columns, it must be a CSV format. Throws a
 * CliError with the choices.
 */
export function chooseImport(
  bytes: Uint8Array,
  fileName: string,
  wanted: string | undefined,
  namesColumns = false,
): ImportFormat {
  const matching =
    wanted === undefined
      ? matchingFormats(IMPORT_FORMATS, bytes, fileName)
      : IMPORT_FORMATS.filter(({ name }) => name === wanted);
  const format = matching.length === 0 && namesColumns ? csv : matching[0];
  if (namesColumns && format?.hasColumns !== true)
    throw new CliError("--map is for CSV files", { exit: "usage", hint: "Leave it out, or choose a CSV format with --format." });
  if (format && matching.length < 2) return format;
  if (matching.length === 0 && columnsIn(bytes, fileName))
    throw new CliError(`The columns of ${fileName} match no known program`, { exit: "usage", hint: MAP_HINT });
  const what = matching.length === 0 ? `The format of ${fileName} was not recognized` : `${fileName} may be of several formats`;
  throw new CliError(what, {
    exit: "usage",
    hint: `Choose with --format:\n${listOf(matching.length > 0 ? matching : IMPORT_FORMATS)}`,
  });
}

const MAP_HINT = [
  "Name them, for example --map 'Login=username' --map 'Secret=password'. A column is",
  `  ${CHOICES.map(({ name }) => name).join(", ")}.`,
  "With --format csv a column is what its name says, else a hidden field. --dry-run writes nothing.",
].join("\n");

/** Reads `COLUMN=PART`, where the name of the column may have equals signs. Throws a CliError with the parts. */
export function parseColumns(given: readonly string[]): ReadonlyMap<string, PartName> {
  return new Map(
    given.map((text) => {
      const at = text.lastIndexOf("=");
      const part = choiceOf(text.slice(at + 1).trim());
      const column = text.slice(0, Math.max(at, 0)).trim().toLowerCase();
      if (column !== "" && part) return [column, part] as const;
      const parts = CHOICES.map(({ name, label }) => ({ name, summary: label }));
      throw new CliError("--map takes COLUMN=PART", { exit: "usage", hint: `The parts are:\n${listOf(parts)}` });
    }),
  );
}

/** Returns the format of a name that the option has among its choices. */
export const chooseExport = (wanted: string | undefined): ExportFormat => EXPORT_FORMATS.find(({ name }) => name === wanted)!;

function listOf(formats: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...formats.map(({ name }) => name.length));
  return formats.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}
