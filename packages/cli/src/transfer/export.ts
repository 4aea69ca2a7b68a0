import { stat } from "node:fs/promises";
import type { Losses } from "@item-vault/transfer/losses";
import { countUnreadable, readService } from "@item-vault/transfer/read-service";
import type { Call } from "../frame/command.ts";
import { CliError, EXIT } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { writeWholeFile } from "../frame/output-file.ts";
import { plural } from "../frame/printable.ts";
import { interruptible } from "../frame/signals.ts";
import { countOfItems, startProgress } from "../output/progress.ts";
import { chooseExport } from "./formats.ts";
import { passwordOf } from "./load-source.ts";
import * as report from "./report.ts";
import type { EXPORT_OPTIONS } from "./table.ts";
import { chooseVault, listVaults } from "./vaults.ts";

/** `export`: writes the readable data of a token to a file. */

type ExportCall = Call<typeof EXPORT_OPTIONS>;

export async function run(call: ExportCall): Promise<number> {
  return await interruptible(async (signal) => await runExport(call, signal));
}

async function runExport({ io, options, client }: ExportCall, signal: AbortSignal): Promise<number> {
  const format = chooseExport(options.format);
  const { "out-file": output = "-", force = false } = options;
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
  const { vaults: all, unreadable } = await listVaults(service);
  const vaults = options.vault ? options.vault.map((name) => chooseVault(all, name, unreadable)) : all;
  const progress = startProgress(io, "read", undefined, countOfItems);
  const unreadableVaults = options.vault ? 0 : unreadable;
  const reading = readService(service, vaults, { signal, onItem: progress.set, unreadableVaults });
  const { items, losses } = await reading.finally(() => progress.end());
  const isIncomplete = countUnreadable(losses.list()) > 0;
  if (isIncomplete && output !== "-" && (await exists(output))) {
    await write(io.stderr, describe(losses));
    throw new CliError(`The export is incomplete, so ${output} was not replaced`, {
      exit: "found",
      hint: "Choose another file, or move this one away first. The administrator finds out what cannot be decrypted: `item-vault admin verify`.",
    });
  }
  const written = await format.write(items, password === undefined ? {} : { password });
  losses.addAll(written.losses);
  signal.throwIfAborted();
  if (output === "-") await write(io.stdout, written.bytes);
  else await writeWholeFile(output, written.bytes, { force });
  await write(io.stderr, describe(losses));
  const protection = password === undefined ? "It contains every value in clear." : "";
  const counted = `${plural(items.length, "Item")} of ${plural(vaults.length, "vault")}`;
  await write(io.stderr, `Exported ${counted}${output === "-" ? "" : ` to ${output}`}. ${protection}\n`);
  if (!isIncomplete) return EXIT.ok;
  await write(
    io.stderr,
    "It is incomplete: the service cannot read everything. `item-vault admin verify` tells the administrator what.\n",
  );
  return EXIT.found;
}

const describe = (losses: Losses): string => report.describeLosses(losses.list()) + report.describeExamples(losses.list());

/** Returns true if a file would be replaced. Output to a pipe or a device replaces nothing. */
const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false;
