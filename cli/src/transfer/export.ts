import { stat } from "node:fs/promises";
import { readService } from "@item-vault/transfer/read-service";
import type { Call } from "../frame/command.ts";
import { CliError, EXIT } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { writeWholeFile } from "../frame/output-file.ts";
import { plural } from "../frame/plural.ts";
import { chooseExport } from "./formats.ts";
import { interruptible } from "../frame/interrupt.ts";
import { passwordOf } from "./load-source.ts";
import { countOfItems, startProgress } from "../output/progress.ts";
import * as report from "./report.ts";
import { chooseVault, listVaults } from "./vaults.ts";
import type { EXPORT_OPTIONS } from "./options.ts";

/** `export`: writes what a token can read to a file. */

type ExportCall = Call<typeof EXPORT_OPTIONS>;

export async function run(call: ExportCall): Promise<number> {
  return await interruptible(async (signal) => await runExport(call, signal));
}

async function runExport({ io, options, client }: ExportCall, signal: AbortSignal): Promise<number> {
  const format = chooseExport(options.format);
  const { "out-file": output, force = false } = options;
  if (output === undefined)
    throw new CliError("No file was chosen", { exit: "usage", hint: "Choose one with -o FILE; `-o -` is stdout." });
  if (output !== "-" && !force && (await exists(output)))
    throw new CliError(`${output} exists`, { exit: "usage", hint: "Choose another file, or replace it with --force." });
  const path = options["password-file"];
  if (path !== undefined && !format.encrypts)
    throw new CliError(`The format ${format.name} does not encrypt`, {
      exit: "usage",
      hint: "Leave --password-file out, and encrypt the file with another program; or use --format bitwarden.",
    });
  const password = path === undefined ? undefined : await passwordOf(io, path, "");
  const service = await client();
  const all = await listVaults(service);
  const vaults = options.vault ? options.vault.map((name) => chooseVault(all, name)) : all;
  const progress = startProgress(io, "read", undefined, countOfItems);
  const { items, losses } = await readService(service, vaults, { signal, onItem: progress.set }).finally(() => progress.end());
  const written = await format.write(items, password === undefined ? {} : { password });
  losses.addAll(written.losses);
  signal.throwIfAborted();
  if (output === "-") await write(io.stdout, written.bytes);
  else await writeWholeFile(output, written.bytes, { force });
  await write(io.stderr, report.describeLosses(losses.list()) + report.describeExamples(losses.list()));
  const protection = password === undefined ? "It contains every value in clear." : "";
  const counted = `${plural(items.length, "Item")} of ${plural(vaults.length, "vault")}`;
  await write(io.stderr, `Exported ${counted}${output === "-" ? "" : ` to ${output}`}. ${protection}\n`);
  return EXIT.ok;
}

/** Whether a file would be replaced: what is written to a pipe or a device replaces nothing. */
const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false;
