import type { Caller } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { brokenIn, type ServiceVault } from "@item-vault/transfer/service";
import { adviceForName } from "../frame/advice.ts";
import { CliError } from "../frame/failure.ts";
import { plural, printable } from "../frame/printable.ts";

/** The vaults that an import or an export names. */

/** The vaults of a token. */
export interface VaultList {
  readonly vaults: readonly ServiceVault[];
  /** Number of vaults left out because the service cannot read them. */
  readonly unreadable: number;
}

/** Throws a CliError for an answer that is not a list, for example a proxy's page. */
export async function listVaults(client: Caller): Promise<VaultList> {
  const { data, headers } = await client.call("GET /v1/vaults");
  if (Array.isArray(data)) return { vaults: data, unreadable: brokenIn(headers) };
  throw new CliError("The answer of the service is no list of vaults", { exit: "unavailable", hint: "Check the host." });
}

/** A comparison of vault names, equal to that of the service. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/**
 * Returns the vault with an id or a name. `unreadable` comes from the list. Throws a CliError if there is none, or if several have the
 * name.
 */
export function chooseVault(vaults: readonly ServiceVault[], wanted: string, unreadable = 0): ServiceVault {
  const id = parseId(wanted);
  const found = vaults.filter((vault) => id !== undefined && parseId(vault.id) === id);
  const named = found.length > 0 ? found : vaults.filter(({ name }) => sameName(name, wanted));
  if (named.length === 1) return named[0]!;
  const many = named.length > 1;
  const absent =
    unreadable === 0
      ? adviceForName(
          vaults.map(({ name }) => name),
          wanted,
          "`item-vault vault list` lists those that it reads.",
        )
      : `The service cannot read ${plural(unreadable, "vault")} of the token, and does not know the name then.`;
  throw new CliError(
    many ? "Several vaults have this name" : `There is no vault ${JSON.stringify(wanted)} that the token reads`,
    {
      exit: many ? "conflict" : "notFound",
      hint: many ? `Use an id:\n${named.map((vault) => `  ${printable(vault.id)}`).join("\n")}` : absent,
    },
  );
}
