import { type Filter, parseFilter, vaultPasses } from "../../model/filter.ts";
import { covers } from "../../model/permission.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadVault, loadVaults } from "../../store/vaults.ts";
import { presentVault } from "../present.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** Endpoint 10: the vaults that a token reads. */

/** The ids of the vaults that a token reads. */
export const readableVaults = ({ vaults }: Pick<Call, "vaults">): string[] =>
  Object.keys(vaults).filter((vault) => covers(vaults[vault], "r"));

export const listVaults = {
  /** A filter of vaults has one reading. */
  parse({ query }: ParseCall): Result<Filter> {
    const readings = parseFilter(query.filter, "vaults");
    return readings.ok ? ok(readings.value[0]!) : readings;
  },
  async handle(call: Call, filter: Filter): Promise<Result<Reply>> {
    const { c, store, claims, dialect } = call;
    const vaults = await loadVaults(store, claims, readableVaults(call));
    if (!vaults.ok) return vaults;
    const passing = vaults.value.filter((vault) => vaultPasses(filter, vault));
    return ok({ response: c.json(passing.map((vault) => presentVault(vault, dialect))) });
  },
};

export async function getVault({ c, store, claims: token, dialect, vault: id }: Call): Promise<Result<Reply>> {
  const vault = await loadVault(store, { token, vault: id });
  return vault.ok ? ok({ response: c.json(presentVault(vault.value, dialect)) }) : vault;
}
