import { getPath } from "hono/utils/url";
import { ALIASES } from "../api/operations.ts";
import { rootOf } from "../crypto/token.ts";
import { isId, parseId } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import { notAVersion, parseQuery, parseVersion } from "../model/query.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { parseBody } from "./body.ts";
import { parseIfMatch } from "./conditions.ts";
import type { Context } from "./context.ts";
import type { Call, Caller, Route, Target } from "./route.ts";

/** Parses the parts of a request that every route has in common. */

/** Returns an id of the path. Returns undefined if the text does not have the form of an id, and "" if the path has no such parameter. */
const idOf = (c: Context, name: string): string | undefined =>
  parseId(c.req.param(name) ?? "") ?? (c.req.param(name) ? undefined : "");

/** The parameters of paths that are checked before the rest of a request. */
const IDS = ["vault", "token", "webhook", "person", "issuer", "rule", "job"] as const;

/**
 * Returns the parts of the path. The forms of the Item's id and of the version are checked later (contract 4.5). Fails for the
 * first wrong id of `IDS`, for example with `vault_id`.
 */
export function parseTarget(c: Context): Result<Target> {
  const ids = IDS.map((name) => [name, idOf(c, name)] as const);
  const wrong = ids.find(([, id]) => id === undefined);
  if (wrong) return fail(`${wrong[0]}_id`);
  // The id of a File is a plain string (contract 3). A text that is not an id names nothing.
  const file = idOf(c, "file") ?? c.req.param("file")!;
  const version = parseVersion(c.req.param("version") ?? "") ?? 0;
  const named = Object.fromEntries(ids) as Record<(typeof IDS)[number], string>;
  return ok({ ...named, file, item: idOf(c, "item") ?? "", version });
}

/** Fails with `item_id`. */
export const checkItemId = (c: Context): Result<undefined> => (idOf(c, "item") === undefined ? fail("item_id") : ok(undefined));

/** Fails with 400. */
export const checkVersion = (c: Context, { version }: Target): Result<undefined> =>
  c.req.param("version") !== undefined && version === 0 ? notAVersion("version") : ok(undefined);

/** Reads body, query, `If-Match`, `Item-Id` and `Idempotency-Key`, and lets the route parse its own input. Fails with 400, 413 or 415. */
export async function parseCall(route: Route, caller: Caller, target: Target): Promise<Result<{ call: Call; input: unknown }>> {
  const { c } = caller;
  const body = route.json ? await parseBody(c.req.raw, LIMITS.body, caller.store.share) : ok(undefined);
  if (!body.ok) return body;
  const query = parseQuery(rawQuery(c.req.url));
  const ifMatch = parseIfMatch(route.conditional && c.req.header("If-Match"));
  const condition = ifMatch.ok ? ifMatch.value : undefined; // refused below, because the route's own input is parsed first
  const itemId = parseItemId(route.identified && c.req.header("Item-Id"));
  const chosenId = itemId.ok ? itemId.value : undefined; // as above
  const call = { ...caller, ...target, query, ifMatch: condition, chosenId, body: body.value };
  const input = route.parse(call);
  if (!input.ok) return input;
  if (!ifMatch.ok) return ifMatch;
  if (!itemId.ok) return itemId;
  const key = parseIdempotencyKey(route.idempotent && c.req.header("Idempotency-Key"));
  if (!key.ok) return key;
  const idempotencyKey = key.value === undefined ? undefined : { owner: ownerOf(caller), text: key.value };
  return ok({ call: { ...call, idempotencyKey }, input: input.value });
}

/** Returns the owner of an Idempotency-Key: the token, `admin` for ADMIN_TOKEN, or the person of an administrator. */
const ownerOf = ({ c, actor }: Caller): string => {
  const admin = c.get("admin");
  return admin ? rootOf(admin) : actor;
};

/**
 * Parses `Item-Id` (contract 10.23), in either form of an id. Returns the canonical id. Fails with 400, also for a text that names nothing.
 */
function parseItemId(header: string | undefined): Result<string | undefined> {
  const id = header === undefined ? undefined : (parseId(header) ?? "");
  return id === undefined || isId(id) ? ok(id) : invalid("Item-Id: is not a UUID or its 26 characters of base32");
}

/** Parses `Idempotency-Key` (contract 10). Fails with 400. */
function parseIdempotencyKey(key: string | undefined): Result<string | undefined> {
  return key === undefined || (/^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKey)
    ? ok(key)
    : invalid(`Idempotency-Key: is not 1 to ${LIMITS.idempotencyKey} visible ASCII characters`);
}

/**
 * Returns the path to route by. A doubled `//`, a trailing slash and an alias are served as the plain path (contract 1). Nothing
 * is redirected.
 */
export function plainPath(request: Request): string {
  const path = getPath(request).replace(/\/{2,}/g, "/");
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return ALIASES.get(plain) ?? plain;
}

/** Returns the query as the client wrote it, undecoded. */
function rawQuery(url: string): string {
  const [beforeFragment = ""] = url.split("#", 1);
  const start = beforeFragment.indexOf("?");
  return start < 0 ? "" : beforeFragment.slice(start + 1);
}
