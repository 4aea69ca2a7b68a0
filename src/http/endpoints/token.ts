import { ok, type Result } from "../../model/result.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import { presentToken } from "../present/tokens.ts";
import type { Call, Reply } from "../route.ts";

/** Endpoint 14: the token of the request. Its claims are those that were issued, which the store checks with the revocation. */
export async function getOwnToken({ c, store, claims, dialect }: Call): Promise<Result<Reply>> {
  const authorized = await loadForToken<[]>(store, claims);
  return authorized.ok ? ok({ response: c.json(presentToken(claims, dialect)) }) : authorized;
}
