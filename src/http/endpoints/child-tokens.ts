import type * as z from "zod/mini";
import { newChildToken } from "../../../contract/bodies.ts";
import type { Claims } from "../../crypto/token.ts";
import { refuseMore } from "../../model/delegation.ts";
import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { requireRoom } from "../../store/health/room.ts";
import { endDescendant, loadChildren } from "../../store/tokens/children.ts";
import { insertToken } from "../../store/tokens/tokens.ts";
import { adminEntry } from "../audit.ts";
import { newId } from "../new-id.ts";
import { presentIssuedToken, presentListedToken } from "../present/tokens.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import type { Activity } from "../../model/activity.ts";

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
  async handle(call: Call, child: NewChild): ReplyTo<"createChildToken"> {
    const { store, claims } = call;
    const room = await requireRoom(store);
    if (!room.ok) return room;
    const id = await newId(call, "new token");
    const issued = await insertToken(store, { id, ...child }, entryOf(call, "CREATE", id), claims);
    return issued.ok ? ok({ json: presentIssuedToken(issued.value.claims, issued.value.token, call.dialect) }) : issued;
  },
});

/** Without a lifetime, the token ends with its parent at the latest. */
function childOf(parent: Claims, request: z.output<typeof newChildToken>, issuedAt: number) {
  const { name, vaults, dialect = parent.dialect, expiresIn, stale, delegate } = request;
  const expiresAt = expiresIn ? issuedAt + expiresIn : Math.min(issuedAt + LIMITS.tokenLifetimeDefault, parent.expiresAt);
  const { ancestors, issuedAt: firstIssuedAt } = parent.descent ?? { ancestors: [], issuedAt: parent.issuedAt };
  const descent = { ancestors: [...ancestors, parent.id], issuedAt: firstIssuedAt };
  return { name, vaults, dialect, issuedAt, expiresAt, stale, delegate: delegate || undefined, descent };
}

export async function listChildTokens({ store, claims, dialect }: Call): ReplyTo<"listChildTokens"> {
  const children = await loadChildren(store, claims);
  return children.ok ? ok({ json: children.value.map((token) => presentListedToken(token, dialect)) }) : children;
}

export async function revokeChildToken(call: Call): ReplyTo<"revokeChildToken"> {
  const { c, store, claims, token } = call;
  const ended = await endDescendant(store, claims, token, entryOf(call, "DELETE", token));
  return ended.ok ? ok({ response: c.body(null, 204) }) : ended;
}

/** The entry in the log of the admin. */
const entryOf = ({ c, actor }: Call, action: Activity["action"], id: string): Activity => ({
  ...adminEntry({ resource: "TOKEN" }, c, action, id),
  actor,
});
