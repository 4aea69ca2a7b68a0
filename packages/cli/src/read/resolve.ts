import type { Client, Policy, Resolved } from "@item-vault/client";
import { parseReference } from "@item-vault/model/reference";
import { CliError, type Exit, exitOfStatus } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";

/** The values of references, fetched with one request for each 100 of them. */

/**
 * Returns the values by reference. Binary files are refused, because templates and variables are texts. Throws a CliError that names every
 * reference without a value.
 */
export async function resolveAll(client: Client, references: readonly string[], policy?: Policy): Promise<Map<string, string>> {
  if (references.length === 0) return new Map();
  const resolved = await client.resolve(references, policy);
  const refused = resolved.filter((entry) => !("value" in entry) || entry.encoding !== undefined);
  if (refused.length === 0) return new Map(resolved.map((entry) => [entry.reference, (entry as { value: string }).value]));
  const lines = refused.map((entry) =>
    printable(
      `${entry.reference}: ${"status" in entry ? entry.message : "is a binary file, which `item-vault read -o FILE` writes"}`,
    ),
  );
  const hint = refused.map((entry) => adviceFor(entry)).find((text) => text !== undefined);
  throw new CliError(lines.join("\n"), { exit: exitOf(refused), ...(hint && { hint }) });
}

/** Returns the command that lists candidates for the reference, if the service found none or several. */
export function adviceFor(entry: Resolved): string | undefined {
  const parsed = parseReference(entry.reference);
  if (!parsed.ok || !("status" in entry) || ![404, 409].includes(entry.status)) return undefined;
  const { vault, item } = parsed.value;
  const within = `--vault ${inShell(vault)}`;
  const [, part] = /\b(field|section|item|vault)/i.exec(entry.message) ?? [];
  if (part === "vault") return "`item-vault vault list` lists the vaults that the token reads.";
  if (part === "Item")
    return `\`item-vault item list ${within} --archived\` lists the items; an archived one is named by its id.`;
  return `\`item-vault item get ${inShell(item)} ${within}\` lists its fields and files.`;
}

/** A reference has no character that ends the quotes. */
const inShell = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name}'`);

/**
 * Returns the exit code of several refusals: the code of the first refusal that a later attempt would get again. Values of --fallback
 * replace unavailable values only if nothing was refused.
 */
function exitOf(refused: readonly Resolved[]): Exit {
  const exits = refused.map((entry) => ("status" in entry ? exitOfStatus(entry.status) : "failed"));
  return exits.find((exit) => exit !== "unavailable") ?? "unavailable";
}
