import type * as z from "zod/mini";
import { newChildToken } from "../../api/bodies.ts";
import type { Claims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { refuseMore } from "../../model/permission.ts";
import { invalid, map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { requireRoom } from "../../store/health/room.ts";
import { endToken } from "../../store/tokens/ended-tokens.ts";
import { endDescendant, loadChildren, insertToken, type IssuedToken, loadRepeated } from "../../store/tokens/tokens.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import { adminEntry } from "../audit.ts";
import { newId } from "../new-id.ts";
import { presentIssuedToken, presentListedToken, presentToken } from "../present/tokens.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";

/** /v1/tokens: the tokens that a token issues (contract 8.16). */

/** The claims of the token to issue, but for its id. */
type NewChild = Omit<Claims, "id">;

export const createChildToken = serveBy({
  parse({ body, claims: parent, store }: ParseCall): Result<NewChild> {
    const parsed = parseValue(newChildToken, body!.json, "the token");
    if (!parsed.ok) return parsed;
    const child = childOf(parent, parsed.value, Math.floor(store.now / 1000));
    return refuseMore(parent, child, child.descent.ancestors.length) ?? ok(child);
  },
  /** It writes, and its token may be able to do nothing else. */
  requests: () => LIMITS.tokenCost,
  async handle(call: Call, child: NewChild): ReplyTo<"createChildToken"> {
    const { store, claims } = call;
    const id = await newId(call, "new token");
    const outlives = child.expiresAt > claims.expiresAt;
    const issued = await (outlives ? loadRepeated(store, { id, ...child }, claims) : issue(call, { id, ...child }));
    if (!issued.ok) return issued;
    if (!issued.value) return invalid("the token: expiresIn is more than the token of the request has left");
    return ok({ json: presentIssuedToken(issued.value.claims, issued.value.token, call.dialect) });
  },
});

/** The limit is lower than for other writes, because deletions need space too (contract 12.7). */
async function issue(call: Call, child: Claims): Promise<Result<IssuedToken>> {
  const room = await requireRoom(call.store, "warning");
  return !room.ok ? room : insertToken(call.store, child, entryOf(call, "CREATE", child.id), call.claims);
}

/** Without a lifetime, the token ends with its parent at the latest. */
function childOf(parent: Claims, request: z.output<typeof newChildToken>, issuedAt: number) {
  const { name, vaults, dialect = parent.dialect, expiresIn: lifetime, stale, delegate } = request;
  const expiresAt = lifetime ? issuedAt + lifetime : Math.min(issuedAt + LIMITS.tokenLifetimeDefault, parent.expiresAt);
  const { ancestors, issuedAt: firstIssuedAt } = parent.descent ?? { ancestors: [], issuedAt: parent.issuedAt };
  const descent = { ancestors: [...ancestors, parent.id], issuedAt: firstIssuedAt };
  return { name, vaults, dialect, issuedAt, expiresAt, stale, delegate: delegate || undefined, descent, lifetime };
}

export async function listChildTokens({ store, claims, dialect }: Call): ReplyTo<"listChildTokens"> {
  const children = await loadChildren(store, claims);
  return children.ok ? ok({ json: children.value.map((token) => presentListedToken(token, dialect)) }) : children;
}

export async function revokeChildToken(call: Call): ReplyTo<"revokeChildToken"> {
  const { c, store, claims, token } = call;
  const entry = entryOf(call, "DELETE", token);
  const ended = await endDescendant(store, claims, token, entry);
  // Where D1 has had no room for the entry. Otherwise it has it already.
  if (ended.ok) c.executionCtx.waitUntil(sendEntry(c.env, entry));
  return ended.ok ? ok({ response: c.body(null, 204) }) : ended;
}

/** Ends the token of the request, and those below it. Fails with `unauthorized`, and as `endToken` does. */
export async function kvRevoke(call: Call): Promise<Result<Reply>> {
  const { c, store, claims } = call;
  const current = await loadForToken<[]>(store, claims);
  if (!current.ok) return current;
  const entry = entryOf(call, "DELETE", claims.id);
  const ended = await endToken(store, claims.id, entry);
  // The token of a workload leaves no row when it ends, which looks as if there had been no token.
  if (!ended.ok && ended.failure.kind !== "token_not_found") return ended;
  c.executionCtx.waitUntil(sendEntry(c.env, entry));
  return ok({ response: c.body(null, 204) });
}

/** Returns the entry in the log of the admin. */
const entryOf = ({ c, actor }: Call, action: Activity["action"], id: string): Activity => ({
  ...adminEntry({ resource: "TOKEN" }, c, action, id),
  actor,
});

/** Endpoint 14: returns the token of the request. Its claims are those issued; the store checks them together with the revocation. */
export const getOwnToken = async ({ store, claims, dialect }: Call): ReplyTo<"getOwnToken"> =>
  map(await loadForToken<[]>(store, claims), () => ({ json: presentToken(claims, dialect) }));
