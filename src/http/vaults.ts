import { covers } from "../crypto/token.ts";
import { parseFilter, vaultPasses } from "../model/filter.ts";
import { readQuery } from "../model/query.ts";
import { ok } from "../model/result.ts";
import { readVault, readVaults } from "../store/vaults.ts";
import { note } from "./audit.ts";
import { authenticate, enter } from "./enter.ts";
import { rawQuery } from "./path.ts";
import { presentVault } from "./present.ts";
import type { Handler } from "./route.ts";

/** Endpoint 10: the vaults that a token reads. */

export const listVaults: Handler = async (c) => {
  const caller = await authenticate(c);
  if (!caller.ok) return caller;
  const { store, claims } = caller.value;
  note(c, { store, claims, log: claims.id, allowed: true });
  const readable = Object.keys(claims.vaults).filter((vault) => covers(claims.vaults[vault], "r"));
  const vaults = await readVaults(store, claims.id, readable);
  if (!vaults.ok) return vaults;
  const filter = parseFilter(readQuery(rawQuery(c.req.url)).filter, "vaults");
  if (!filter.ok) return filter;
  const [reading] = filter.value;
  const passing = vaults.value.filter((vault) => vaultPasses(reading!, vault));
  return ok(c.json(passing.map((vault) => presentVault(vault, claims.dialect))));
};

export const getVault: Handler = async (c) => {
  const entry = await enter(c, "r", "out_of_scope");
  if (!entry.ok) return entry;
  const vault = await readVault(entry.value.store, entry.value);
  return vault.ok ? ok(c.json(presentVault(vault.value, entry.value.claims.dialect))) : vault;
};
