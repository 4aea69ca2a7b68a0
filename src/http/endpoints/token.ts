import { ok } from "../../model/result.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import { presentToken } from "../present/tokens.ts";
import type { Call, ReplyTo } from "../route.ts";

/** Endpoint 14: returns the token of the request. Its claims are those issued; the store checks them together with the revocation. */
export async function getOwnToken({ store, claims, dialect }: Call): ReplyTo<"getOwnToken"> {
  const authorized = await loadForToken<[]>(store, claims);
  return authorized.ok ? ok({ json: presentToken(claims, dialect) }) : authorized;
}
