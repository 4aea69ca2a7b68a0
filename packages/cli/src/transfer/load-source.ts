import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Argon2id } from "@item-vault/transfer/format";
import type { Transfer } from "@item-vault/transfer/item";
import { readService } from "@item-vault/transfer/read-service";
import type { Call } from "../frame/command.ts";
import { connectTo } from "../frame/connect.ts";
import { checkScheme, timeoutOf } from "../frame/connection.ts";
import { CliError } from "../frame/failure.ts";
import { readAll } from "../frame/io.ts";
import { unreadable } from "../frame/paths.ts";
import { ask } from "../frame/prompt.ts";
import { checkToken } from "../frame/settings.ts";
import { countOfItems, startProgress } from "../output/progress.ts";
import { chooseImport, parseColumns } from "./formats.ts";
import type { IMPORT_OPTIONS } from "./table.ts";
import { listVaults } from "./vaults.ts";

/** Reads the source of an import completely, before anything is written. */

export type ImportCall = Call<typeof IMPORT_OPTIONS>;

export interface Source {
  /** The name of the format. */
  readonly format: string;
  readonly transfer: Transfer;
}

/** Throws a CliError for an unreadable source. */
export async function loadSource(call: ImportCall, signal: AbortSignal): Promise<Source> {
  const { args, options } = call;
  const url = options["from-connect"];
  if ((url === undefined) === (args[0] === undefined))
    throw new CliError(url === undefined ? "Give a file, or --from-connect URL" : "Give a file or --from-connect, not both", {
      exit: "usage",
      hint: "Run `item-vault import --help`.",
    });
  if (url !== undefined && options.map)
    throw new CliError("--map is for CSV files", { exit: "usage", hint: "Leave it out with --from-connect." });
  return url === undefined ? await loadFile(args[0]!, call) : await loadService(url, call, signal);
}

async function loadFile(path: string, { io, options }: ImportCall): Promise<Source> {
  const bytes = path === "-" ? await readAll(io.stdin) : await readSource(path);
  const fileName = path === "-" ? "Imported" : basename(path); // formats make titles of it
  if (bytes.length === 0) throw new CliError(`${path === "-" ? "stdin" : path} is empty`, { exit: "usage" });
  const columns = options.map && parseColumns(options.map);
  const format = chooseImport(bytes, fileName, options.format, columns !== undefined);
  const password = async () => await passwordOf(io, options["password-file"], "Password of the source: ");
  const keyFile = options["key-file"] === undefined ? {} : { keyFile: await readSource(options["key-file"]) };
  const { "include-trash": includeTrash = false } = options;
  const transfer = await format.read(bytes, { password, fileName, includeTrash, argon2id, columns, ...keyFile });
  return { format: format.name, transfer };
}

const argon2id: Argon2id = async (parameters) => await (await import("@item-vault/transfer/argon2")).argon2id(parameters);

export async function readSource(path: string): Promise<Uint8Array> {
  return await readFile(path).catch(unreadable(path));
}

/** Returns the first line of a password file, else the user's input. */
export async function passwordOf(io: ImportCall["io"], path: string | undefined, prompt: string): Promise<string> {
  if (path === undefined) return await ask(io, prompt, { hidden: true, instead: "Give the password with --password-file." });
  return Buffer.from(await readSource(path))
    .toString("utf8")
    .split(/\r?\n/, 1)[0]!;
}

async function loadService(host: string, { io, options }: ImportCall, signal: AbortSignal): Promise<Source> {
  checkScheme(io.env, host, options);
  const given =
    io.env["OP_CONNECT_TOKEN"]?.trim() ||
    (await ask(io, "Token of the other service: ", {
      hidden: true,
      instead: "Set OP_CONNECT_TOKEN to the token of the other service, and ITEM_VAULT_TOKEN to your own.",
    }));
  const token = checkToken("The token of the other service", given.trim());
  // Another server of the API names none of its answers.
  const client = connectTo(
    { host, token, timeout: timeoutOf(io.env, options), from: "of OP_CONNECT_TOKEN" },
    { onlyItemVault: false },
  );
  const progress = startProgress(io, "read", undefined, countOfItems);
  const { vaults, unreadable: unreadableVaults } = await listVaults(client);
  const reading = readService(client, vaults, { signal, onItem: progress.set, unreadableVaults });
  const { items, losses } = await reading.finally(() => progress.end());
  return { format: "connect", transfer: { source: "connect", items, losses: losses.list() } };
}
