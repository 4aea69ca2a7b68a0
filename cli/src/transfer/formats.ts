import { type ExportFormat, type ImportFormat, matchingFormats } from "@item-vault/transfer/format";
import { bitwarden } from "@item-vault/transfer/formats/bitwarden";
import { bitwardenExport, bitwardenZip } from "@item-vault/transfer/formats/bitwarden-export";
import { chrome, firefox } from "@item-vault/transfer/formats/csv";
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
