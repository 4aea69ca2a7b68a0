import type * as z from "zod/mini";
import { newToken } from "../../api/bodies.ts";
import type { Claims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { byNarrowAdmin } from "../../model/token-kind.ts";
import { endToken } from "../../store/tokens/ended-tokens.ts";
import { insertToken, loadToken, loadTokens } from "../../store/tokens/tokens.ts";
import { refuseAdministrator } from "../administrators.ts";
import { adminEntry } from "../audit.ts";
import { newId } from "../new-id.ts";
import { presentIssuedToken, presentListedToken } from "../present/tokens.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/tokens: issues, lists and revokes tokens. */

type NewToken = z.output<typeof newToken>;

export const createToken = serveBy({
  parse: ({ body }: ParseCall): Result<NewToken> => parseValue(newToken, body!.json, "the token"),
  async handle(call: Call, input: NewToken): ReplyTo<"createToken"> {
    const { c, store } = call;
    const { name, vaults = {}, dialect = "uuid", expiresIn = LIMITS.tokenLifetimeDefault, stale, managedBy } = input;
    const [binding, delegate] = [input.binding, input.delegate].map((one) => one || undefined);
    const narrow = byNarrowAdmin((one) => input[one] || undefined);
    const kind = Object.values(narrow).some(Boolean) ? "admin" : undefined;
    const issuedAt = Math.floor(store.now / 1000);
    const id = await newId(call, "new token");
    const times = { issuedAt, expiresAt: issuedAt + expiresIn };
    const claims: Claims = { id, name, dialect, vaults, ...times, binding, stale, delegate, kind, managedBy, ...narrow };
    const issued = await insertToken(store, claims, adminEntry({ resource: "TOKEN" }, c, "CREATE", id));
    if (!issued.ok) return issued;
    // The token is not stored: only this answer, and the answer to a repeated request, contain it. A token for service bindings is in no
    // answer, because nobody needs it, and it would authenticate nobody (docs/design/access.md).
    const token = binding ? undefined : issued.value.token;
    return ok({ json: presentIssuedToken(issued.value.claims, token, "uuid"), made: id });
  },
});

export const listTokens = async ({ store }: Call): ReplyTo<"listTokens"> =>
  map(await loadTokens(store), (tokens) => ({ json: tokens.map((token) => presentListedToken(token, "uuid")) }));

export const getToken = async ({ store, token: id }: Call): ReplyTo<"getToken"> =>
  map(await loadToken(store, id), (token) => ({ json: presentListedToken(token, "uuid") }));

export async function revokeToken({ c, store, token }: Call): ReplyTo<"revokeToken"> {
  const refused = await refuseAdministrator(c, store, () => loadToken(store, token));
  if (refused) return refused;
  const deleted = await endToken(store, token, adminEntry({ resource: "TOKEN" }, c, "DELETE", token));
  return deleted.ok ? ok({ response: c.body(null, 204) }) : deleted;
}
