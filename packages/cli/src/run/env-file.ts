import { createReadStream } from "node:fs";
import { NO_VARIABLE, parseDotenv } from "@item-vault/transfer/dotenv";
import { TransferError } from "@item-vault/transfer/error";
import { decodeText } from "@item-vault/transfer/text";
import { CliError } from "../frame/failure.ts";
import { readAll } from "../frame/io.ts";

/** The files of `run --env`. */

const ENV_FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns the variables of a file, which may be a pipe. `say` is told of lines that are ignored. Throws a CliError with the path, and the line
 * where there is one.
 */
export async function readEnvFile(path: string, say: (message: string) => void): Promise<ReadonlyMap<string, string>> {
  // `end` is the index of the last byte, so a file that is too large gives one byte too many.
  const bytes = await readAll(createReadStream(path, { end: ENV_FILE_BYTES_MAX })).catch(({ code }: NodeJS.ErrnoException) => {
    throw refused(`${path}: cannot be read: ${code}`);
  });
  if (bytes.length > ENV_FILE_BYTES_MAX) throw refused(`${path}: is larger than ${ENV_FILE_BYTES_MAX / 1024 / 1024} MiB`);
  try {
    return parseDotenv(decodeText(bytes, path), path, (what, where) => {
      if (what === NO_VARIABLE) say(`${path}: ${where} sets no variable and is ignored`);
    });
  } catch (error) {
    throw error instanceof TransferError ? refused(error.message) : error;
  }
}

const refused = (message: string): CliError => new CliError(message, { exit: "usage", hint: "The command was not started." });
