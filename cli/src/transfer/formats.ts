import { CliError } from "../frame/failure.ts";
import { type ExportFormat, type ImportFormat, matchingFormats } from "./model.ts";
import { bitwarden } from "./formats/bitwarden.ts";
import { bitwardenExport, bitwardenZip } from "./formats/bitwarden-export.ts";
import { chrome, firefox } from "./formats/csv.ts";
import { dotenv } from "./formats/dotenv.ts";
import { dotenvExport } from "./formats/dotenv-export.ts";
import { itemVaultImport } from "./formats/item-vault.ts";
import { itemVaultExport } from "./formats/item-vault-export.ts";
import { keepass } from "./formats/keepass.ts";
import { onePuxImport } from "./formats/onepux.ts";
import { onePuxExport } from "./formats/onepux/write.ts";
import { vaultKv } from "./formats/vault-kv.ts";

/** Every format, in the order of the help. */

export const IMPORT_FORMATS: readonly ImportFormat[] = [
  onePuxImport,
  itemVaultImport,
  bitwarden,
  keepass,
  chrome,
  firefox,
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

/** The format of a file: the one that was asked for, else the one whose signs it has. Errors: throws a CliError with the choices. */
export function chooseImport(bytes: Uint8Array, fileName: string, wanted: string | undefined): ImportFormat {
  if (wanted !== undefined) return named(IMPORT_FORMATS, wanted);
  const matching = matchingFormats(IMPORT_FORMATS, bytes, fileName);
  if (matching.length === 1) return matching[0]!;
  const what = matching.length === 0 ? "The file has no format that is known" : "The file may be of several formats";
  throw new CliError(what, {
    exit: "usage",
    hint: `Choose with --format:\n${listOf(matching.length > 0 ? matching : IMPORT_FORMATS)}`,
  });
}

export const chooseExport = (wanted: string | undefined): ExportFormat => named(EXPORT_FORMATS, wanted);

function named<T extends ExportFormat | ImportFormat>(formats: readonly T[], wanted: string | undefined): T {
  const found = formats.find(({ name }) => name === wanted?.toLowerCase());
  if (found) return found;
  const message = wanted === undefined ? "No format was chosen" : "There is no such format";
  throw new CliError(message, { exit: "usage", hint: `Choose with --format:\n${listOf(formats)}` });
}

function listOf(formats: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...formats.map(({ name }) => name.length));
  return formats.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}
