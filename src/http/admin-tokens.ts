import * as z from "zod";
import { type Claims, type Permission, signToken } from "../crypto/token.ts";
import { parseId } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import { fail, invalid, ok } from "../model/result.ts";
import { explain, optional, text } from "../model/text.ts";
import { deleteToken, insertToken, readTokens } from "../store/tokens.ts";
import { enterAdmin, enterAdminToSeal } from "./admin.ts";
import { readBody } from "./body.ts";
import type { Handler } from "./route.ts";

/** /v1/admin/tokens: tokens are issued, listed and revoked here. */

const PERMISSIONS = new Set<unknown>(["r", "w", "rw"] satisfies Permission[]);

/** `{"<vault id>": "r" | "w" | "rw"}`. No `z.record`: it drops a key `__proto__` without a word. */
const scope = z
  .custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "is not an object")
  .transform((object, context): Record<string, Permission> => {
    const entries = Object.entries(object).map(([id, permission]) => [parseId(id), permission as Permission] as const);
    const ids = new Set(entries.map(([id]) => id));
    const refuse = (message: string) => context.addIssue({ code: "custom", message });
    if (entries.length > LIMITS.tokenVaults) refuse(`names more than ${LIMITS.tokenVaults} vaults`);
    else if (ids.has(undefined)) refuse("has a key that is no vault id");
    else if (ids.size < entries.length) refuse("names a vault twice");
    else if (entries.some(([, permission]) => !PERMISSIONS.has(permission))) refuse("has a permission that is not r, w or rw");
    return Object.fromEntries(entries) as Record<string, Permission>;
  });

const newToken = z.object({
  name: text(LIMITS.title).min(1, "is empty"),
  vaults: scope,
  dialect: optional(z.enum(["uuid", "connect"], "is not uuid or connect")),
  expiresIn: optional(
    z.int("is not an integer").min(1, "is less than 1").max(LIMITS.tokenLifetime, `is more than ${LIMITS.tokenLifetime}`),
  ),
});

export const createToken: Handler = async (c) => {
  const store = await enterAdminToSeal(c);
  if (!store.ok) return store;
  const body = await readBody(c.req.raw);
  if (!body.ok) return body;
  const input = newToken.safeParse(body.value.json);
  if (!input.success) return invalid(explain(input.error, "the token"));
  const { name, vaults, dialect = "uuid", expiresIn = LIMITS.tokenLifetimeDefault } = input.data;
  const issuedAt = Math.floor(store.value.now / 1000);
  const claims: Claims = { id: crypto.randomUUID(), name, dialect, vaults, issuedAt, expiresAt: issuedAt + expiresIn };
  const inserted = await insertToken(store.value, claims);
  if (!inserted.ok) return inserted;
  // The only time that the token itself is shown: it is not kept.
  return ok(c.json({ ...present(claims), token: await signToken(store.value.keyring, claims) }));
};

export const listTokens: Handler = async (c) => {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const tokens = await readTokens(store.value);
  return tokens.ok ? ok(c.json(tokens.value.map(present))) : tokens;
};

export const revokeToken: Handler = async (c) => {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const id = parseId(c.req.param("token")!);
  if (id === undefined) return fail("token_id");
  const deleted = await deleteToken(store.value, id);
  return deleted.ok ? ok(c.body(null, 204)) : deleted;
};

const time = (seconds: number) => new Date(seconds * 1000).toISOString();

function present({ id, name, dialect, vaults, issuedAt, expiresAt }: Claims): object {
  return { id, name, dialect, vaults, createdAt: time(issuedAt), expiresAt: time(expiresAt) };
}
