import { CliError } from "../frame/failure.ts";
import type { ExportFormat, ImportFormat } from "./model.ts";
import { bitwarden, bitwardenZip } from "./formats/bitwarden.ts";
import { chrome, firefox } from "./formats/csv.ts";
import { dotenv } from "./formats/dotenv.ts";
import { dotenvExport } from "./formats/dotenv-export.ts";
import { itemVaultExport, itemVaultImport } from "./formats/item-vault.ts";
import { keepass } from "./formats/keepass.ts";
import { onePuxImport } from "./formats/onepux/read.ts";
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

export const EXPORT_FORMATS: readonly ExportFormat[] = [itemVaultExport, onePuxExport, dotenvExport, bitwarden, bitwardenZip];

const HEAD = 4096; // bytes

/** The format of a file: the one that was asked for, else the one whose signs it has. Errors: throws a CliError with the choices. */
export function chooseImport(bytes: Uint8Array, fileName: string, wanted: string | undefined): ImportFormat {
  if (wanted !== undefined) return named(IMPORT_FORMATS, wanted);
  const head = bytes.subarray(0, HEAD);
  const matching = IMPORT_FORMATS.filter((format) => format.matches(head, fileName));
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
