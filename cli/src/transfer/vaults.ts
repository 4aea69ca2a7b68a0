import type { Caller } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import type { ServiceVault } from "@item-vault/transfer/service";
import { CliError } from "../frame/failure.ts";

/** The vaults that an import or an export names. */

/** Errors: throws a CliError for an answer that is no list, as a page of a proxy. */
export async function listVaults(client: Caller): Promise<readonly ServiceVault[]> {
  const { data } = await client.call("GET /v1/vaults");
  if (Array.isArray(data)) return data;
  throw new CliError("The answer of the service is no list of vaults", { exit: "unavailable", hint: "Check the host." });
}

/** A comparison of names of vaults as the service does it. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The vault of an id or a name. Errors: throws a CliError when there is none, or several have the name. */
export function chooseVault(vaults: readonly ServiceVault[], wanted: string): ServiceVault {
  const id = parseId(wanted);
  const found = vaults.filter((vault) => id !== undefined && parseId(vault.id) === id);
  const named = found.length > 0 ? found : vaults.filter(({ name }) => sameName(name, wanted));
  if (named.length === 1) return named[0]!;
  const many = named.length > 1;
  throw new CliError(many ? "Several vaults have this name" : `The token reads no vault of the name ${JSON.stringify(wanted)}`, {
    exit: many ? "conflict" : "notFound",
    hint: many ? "Use the id of the vault." : "`item-vault whoami` shows the vaults of the token.",
  });
}
