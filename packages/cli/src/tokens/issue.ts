import { setTimeout as wait } from "node:timers/promises";
import type { IssuedToken, Permission } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { isPermission } from "@item-vault/model/permission";
import { NARROW_ADMIN_NAMES } from "@item-vault/model/token-kind";
import { isId, type NamedVault, tokenIdOf, vaultNamed } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { secondsOf } from "../frame/duration.ts";
import { CliError } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { show, tell } from "../output/format.ts";
import { type CHILD_CREATE_OPTIONS, PERMISSION_LETTERS, type TOKEN_CREATE_OPTIONS, type TOKEN_REISSUE_OPTIONS } from "./table.ts";

const WAIT_SECONDS_MAX = 7 * 86_400; // a timer of Node ends after 24 days at the latest

/** `token create`: prints the token alone, so that a pipe can take it. */
export async function create({ io, args, options, admin: connect }: Call<typeof TOKEN_CREATE_OPTIONS>): Promise<void> {
  const attributes = attributesOf(options);
  const wanted = (options.vault ?? []).map(parseScope);
  const narrow = NARROW_ADMIN_NAMES.find((name) => options[name === "adminRead" ? "admin-read" : "backups-only"]);
  if (wanted.length === 0 && narrow === undefined)
    throw new CliError("The token would have no vaults", { exit: "usage", hint: "Name each vault with --vault." });
  const admin = await connect();
  const vaults = await vaultsOf(wanted, async () => (await admin.call("GET /v1/admin/vaults")).data);
  const body = narrow
    ? { name: args[0]!, ...attributes, ...(wanted.length > 0 && { vaults }), [narrow]: true }
    : { name: args[0]!, vaults, ...attributes, ...(options.binding && { binding: true }) };
  await showIssued(io, options.format, (await admin.call("POST /v1/admin/tokens", { body })).data);
}

/** `child create`: as `token create`, below the token of the user. */
export async function createChild({ io, args, options, client: connect }: Call<typeof CHILD_CREATE_OPTIONS>): Promise<void> {
  const attributes = attributesOf(options);
  const wanted = (options.vault ?? []).map(parseScope);
  const client = await connect();
  const vaults = await vaultsOf(wanted, async () => (await client.call("GET /v1/vaults")).data);
  await showIssued(
    io,
    options.format,
    (await client.call("POST /v1/tokens", { body: { name: args[0]!, vaults, ...attributes } })).data,
  );
}

/** Returns the attributes of a request for a token besides its name and vaults. The service chooses absent attributes. */
const attributesOf = ({ dialect, delegate, stale, ...options }: Call<typeof CHILD_CREATE_OPTIONS>["options"]) => ({
  ...(dialect && { dialect }),
  ...(delegate && { delegate }),
  ...lifetimeOf(options["expires-in"]),
  ...(stale !== undefined && { stale: secondsOf("--stale", stale) }),
});

/**
 * `token reissue`. The service ends a token at its expiry or when it is revoked, and cannot be told a later time. So the command revokes the
 * old token at once (`--overlap 0`), after it has waited (`--wait`), or tells which token to revoke, and when.
 */
export async function reissue({ io, args, options, admin: connect }: Call<typeof TOKEN_REISSUE_OPTIONS>): Promise<void> {
  const overlap = options.overlap === undefined ? undefined : secondsOf("--overlap", options.overlap);
  if (options.wait && (overlap === undefined || overlap > WAIT_SECONDS_MAX))
    throw new CliError("--wait needs --overlap, of at most 7d", { exit: "usage" });
  const asked = lifetimeOf(options["expires-in"]);
  const admin = await connect();
  const id = await tokenIdOf(admin, args[0]!);
  const { data: old } = await admin.call("GET /v1/admin/tokens/{token}", { path: { token: id } });
  if ("broken" in old)
    throw new CliError("The record of the token cannot be decrypted", {
      hint: "Issue another one with `item-vault token create`.",
    });
  if (old.parent !== undefined)
    throw new CliError("This token was issued by another token", { hint: "Issue another one with `item-vault child create`." });
  const { name, vaults, dialect, createdAt, expiresAt, stale, delegate } = old;
  const narrow = NARROW_ADMIN_NAMES.find((one) => old[one]);
  const expiresIn = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000);
  const body = {
    name,
    ...(narrow ? { [narrow]: true } : { vaults, dialect }),
    expiresIn,
    ...asked,
    ...(old.binding && { binding: true }),
    ...(stale && { stale }),
    ...(delegate && { delegate }),
  };
  await showIssued(io, options.format, (await admin.call("POST /v1/admin/tokens", { body })).data);
  if (old.endedAt !== undefined) return tell(io, `The old token ${id} has already ended`);
  const revoking = `\`item-vault token revoke ${id}\``;
  if (overlap === undefined) return tell(io, `The old token works until ${expiresAt}: ${revoking} ends it`);
  const due = new Date(Date.now() + overlap * 1000).toISOString().slice(0, 19);
  if (overlap > 0 && !options.wait) return tell(io, `The old token still works. Revoke it at ${due}Z: ${revoking}`);
  if (overlap > 0) await tell(io, `Revoking the old token at ${due}Z. If this is interrupted, run ${revoking}`);
  await wait(overlap * 1000);
  await admin.call("DELETE /v1/admin/tokens/{token}", { path: { token: id } });
  return tell(io, `Revoked the old token ${id}`);
}

const lifetimeOf = (text: string | undefined) => (text === undefined ? {} : { expiresIn: secondsOf("--expires-in", text) });

/** Writes the token, or the id of a token without text, to stdout, and its description to stderr. */
async function showIssued(io: Io, format: string | undefined, issued: IssuedToken): Promise<void> {
  const { id, token, expiresAt } = issued;
  const more = token === undefined ? "Use its id for the binding." : "Copy it now: it cannot be shown again.";
  await tell(io, `Issued the token ${id}, which expires at ${expiresAt}. ${more}`);
  if (format === undefined || format === "table") await write(io.stdout, `${printable(token ?? id)}\n`);
  else await show(io, format, { json: issued, table: () => "" });
}

/** A vault by its name or id, and the permission in it. */
type Named<Value> = readonly [vault: string, value: Value];

/** `VAULT`, `VAULT=rw`, or of some Items only `VAULT=rw:ID,ID` (contract 8.15). */
export function parseScope(text: string): Named<IssuedToken["vaults"][string]> {
  const [, vault, letters = "r", ids] = /^(.+?)(?:=([lrwd]+)(?::(.*))?)?$/s.exec(text) ?? [];
  // In any order; reading includes listing.
  const permissions = [...(letters.includes("r") ? "rwd" : "lwd")].filter((letter) => letters.includes(letter)).join("");
  const items = ids?.split(",");
  if (!vault || !isPermission(permissions) || items?.some((id) => parseId(id) === undefined)) throw noScope();
  return [vault, items ? { permissions, items } : permissions];
}

const noScope = () =>
  new CliError("--vault takes VAULT, VAULT=rwd or VAULT=rwd:ID,ID, without blanks around =", {
    exit: "usage",
    hint: `The permissions are ${PERMISSION_LETTERS}; an item is named by its id.`,
  });

/** Throws a CliError for the name of a vault that is followed by something other than permissions, unless a vault has that whole name. */
function idOfVault(all: readonly NamedVault[], text: string): string {
  const isNamed = (vault: string) => all.some(({ name }) => name === vault);
  const [, vault] = /^(.*?)\s*[=:].*$/s.exec(text) ?? [];
  if (vault !== undefined && !isNamed(text) && (isId(vault) || isNamed(vault))) throw noScope();
  return vaultNamed(all, text).id;
}

/** Parses a scope as `parseScope` does, for a person, who has whole vaults (contract 8.15). */
export function parsePermission(text: string): Named<Permission> {
  const [vault, scope] = parseScope(text);
  if (typeof scope === "string") return [vault, scope];
  throw new CliError("A person has access to whole vaults, not to single items", { exit: "usage" });
}

/** Returns the `vaults` of a request (contract 13.14). `loadVaults` loads all vaults for their names, at most once. */
export async function vaultsOf<Value>(
  wanted: readonly Named<Value>[],
  loadVaults: () => Promise<readonly NamedVault[]>,
): Promise<Record<string, Value>> {
  const all = wanted.some(([vault]) => !isId(vault)) ? await loadVaults() : [];
  const entries = wanted.map(([vault, value]) => [isId(vault) ? parseId(vault)! : idOfVault(all, vault), value] as const);
  if (new Set(entries.map(([id]) => id)).size < entries.length)
    throw new CliError("--vault names a vault twice", { exit: "usage" });
  return Object.fromEntries(entries);
}
