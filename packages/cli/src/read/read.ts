import type { Call } from "../frame/command.ts";
import { CliError, exitOfStatus } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { parseMode, writeWholeFile } from "../frame/output-file.ts";
import { adviceFor } from "./resolve.ts";
import type { READ_OPTIONS } from "./table.ts";

/** `read`: prints the value of one reference with a newline, or writes it to a file as it is. */
export async function run({ io, args, options, client }: Call<typeof READ_OPTIONS>): Promise<void> {
  const mode = parseMode(options["file-mode"]);
  const [resolved] = await (await client()).resolve([args[0]!]);
  if (!resolved || "status" in resolved) throw refusal(resolved, resolved && adviceFor(resolved));
  const binary = resolved.encoding === "base64";
  const value = Buffer.from(resolved.value, binary ? "base64" : "utf8");
  const path = options["out-file"];
  if (path !== undefined) return writeWholeFile(path, value, { mode, force: options.force ?? false });
  const newline = binary || options["no-newline"] ? "" : "\n";
  return write(io.stdout, Buffer.concat([value, Buffer.from(newline)]));
}

function refusal({ status = 500, message = "The service did not answer the reference" } = {}, advice?: string): CliError {
  const hint = status === 413 ? "`item-vault file get` reads files of any size." : advice;
  return new CliError(message, { exit: exitOfStatus(status), ...(hint && { hint }) });
}
