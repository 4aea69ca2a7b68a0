import { type Filter, parseFilter, passingVaults } from "../../model/filter.ts";
import { vaultsWith } from "../../model/permission.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { loadVault, loadVaults } from "../../store/vaults/vaults.ts";
import { brokenHeader } from "../optional-headers.ts";
import { presentVault } from "../present/vaults.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** Endpoint 10: the vaults whose Items a token may list. */

export const listVaults = serveBy({
  parse: ({ query }: ParseCall): Result<readonly Filter[]> => parseFilter(query.filter, "vaults"),
  async handle(call: Call, readings: readonly Filter[]): ReplyTo<"listVaults"> {
    const { store, claims, dialect } = call;
    const vaults = await loadVaults(store, claims, vaultsWith("l", call));
    if (!vaults.ok) return vaults;
    const { refusals } = vaults.value;
    const passing = passingVaults(readings, vaults.value.vaults);
    // An empty list would claim that there is no vault, or none with that name. A vault that cannot be decrypted may have the name.
    if (passing.length === 0 && refusals[0]) return refusals[0];
    return ok({ json: passing.map((vault) => presentVault(vault, dialect)), headers: brokenHeader(refusals.length) });
  },
});

export const getVault = async ({ store, claims: token, dialect, vault: id }: Call): ReplyTo<"getVault"> =>
  map(await loadVault(store, { token, vault: id }), (vault) => ({ json: presentVault(vault, dialect) }));
