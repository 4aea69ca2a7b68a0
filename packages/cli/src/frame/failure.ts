import { ItemVaultError } from "@item-vault/client";
import { TransferError } from "@item-vault/transfer/error";
import { printable } from "./printable.ts";
import { reasonOf } from "./reasons.ts";

/** Failures of commands, and the exit codes (docs/cli.md). */

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  found: 7,
  drift: 8,
} as const;

export type Exit = keyof typeof EXIT;

/** The meaning of each exit code, for the help. */
export const MEANINGS: Readonly<Record<Exit, string>> = {
  ok: "success",
  failed: "a failure that has no code of its own",
  usage: "the command line, or a file that it names, is malformed",
  denied: "there is no token, or the service refuses it or what it may do",
  notFound: "the vault, item, field or file does not exist",
  conflict: "the change conflicts with another one, or a name is ambiguous",
  unavailable: "the service did not answer, or cannot serve at the moment",
  found: "a check, backup, restore, export or import found something wrong",
  drift: "the service differs from the file of `apply`",
};

/** Ends a command. `message` is the failure, and `hint` the next step. Neither contains a secret. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: Exit;
  readonly hint: string | undefined;

  constructor(message: string, { exit = "failed", hint }: { readonly exit?: Exit; readonly hint?: string } = {}) {
    super(message);
    this.exit = exit;
    this.hint = hint;
  }
}

const BY_STATUS: Readonly<Record<number, Exit>> = {
  0: "unavailable",
  400: "usage",
  401: "denied",
  403: "denied",
  404: "notFound",
  409: "conflict",
  410: "conflict",
  412: "conflict",
  429: "unavailable",
};

/** The next step by the kind of the failure (contract 4.3), else by its status. */
const HINTS: Readonly<Record<string, string>> = {
  admin_token: "It is the ADMIN_TOKEN of the service: set ITEM_VAULT_ADMIN_TOKEN, or run `item-vault login --admin`.",
  other_token: "OP_CONNECT_TOKEN takes a token of that service.",
  certificate: "To trust the authority that has signed it: NODE_EXTRA_CA_CERTS=FILE.",
  host_path: "Leave the path out of the host: ITEM_VAULT_HOST=https://vault.example.com.",
  category: "`item-vault item create --help` lists the categories.",
  rule_id: "`item-vault rule list` shows the ids.",
  job_id: "`item-vault admin jobs` shows the ids.",
  body_too_large: "Store a large value as a file, by `item-vault file put`. Split a file that is too large.",
  integrity: "Stored data is damaged. Ask your administrator to run `item-vault admin verify`.",
  database_full: "Delete items, versions or files that are not needed, or ask your administrator for more storage.",
  quota: "Delete what is not needed, or ask your administrator for a larger quota.",
  misconfigured: "Ask your administrator to look at /health of the service.",
  schema: "Ask your administrator to look at /health of the service.",
  0: "Check the host (--host, ITEM_VAULT_HOST or `item-vault login`), and that the service is running.",
  401: "Set ITEM_VAULT_TOKEN to a valid one, or run `item-vault login`.",
  403: "`item-vault whoami` shows what the token may do. Ask your administrator for one that may do this.",
  429: "Try again later.",
  500: "Try again. If the command fails again, look at the log of the service.",
  502: "Try again later.",
  503: "Try again later.",
  504: "Try again later.",
};

/** The names of vaults that this command has looked up, by their ids as the service writes them: `"Demo"`. */
export const vaultNames = new Map<string, string>();

/** Returns the failure of an exception, or undefined for a defect of this program. */
export function failureOf(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  if (error instanceof TransferError) return withHint(error.message, "usage", error.hint);
  if (isOfSystem(error)) return new CliError(`${error.path ?? `The call ${error.syscall}`} failed: ${reasonOf(error)}`);
  if (!(error instanceof ItemVaultError)) return undefined;
  const exit = exitOfStatus(error.status);
  // The service names the kind, and an object also answers to names such as "constructor".
  const hint = HINTS[Object.hasOwn(HINTS, error.kind) ? error.kind : error.status];
  const message = error.message.replace(/(?<=vault )[\w-]{26,36}/, (id) => vaultNames.get(id) ?? id);
  return withHint(printable(message), exit, hint);
}

const isOfSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "errno" in error;

const withHint = (message: string, exit: Exit, hint: string | undefined): CliError =>
  new CliError(message, hint === undefined ? { exit } : { exit, hint });

/** The exit code for an HTTP status; 0 stands for no answer. */
export const exitOfStatus = (status: number): Exit => BY_STATUS[status] ?? (status >= 500 ? "unavailable" : "failed");
