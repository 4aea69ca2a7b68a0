import { createHash } from "node:crypto";
import type { Client, Token, Vault } from "@item-vault/client";
import { isDialect } from "@item-vault/model/dialect";
import { parseId } from "@item-vault/model/ids";
import { vaultsWith } from "@item-vault/model/permission";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { malformed } from "./attempts.ts";
import { type Copy, createVault, type HeldVault, setRow } from "./copy.ts";
import { idOf } from "./read-vault.ts";

/** The vaults in the copy: all vaults of the token, or those that the user names. */

export interface Listing {
  readonly client: Client;
  readonly copy: Copy;
  /** The text of the token. */
  readonly token: string;
  /** Names or ids of the vaults that are held; none: all that the token reads. */
  readonly wanted: readonly string[];
  readonly signal: AbortSignal;
}

interface State {
  /** The vaults whose attributes their events report. */
  readonly followed: ReadonlyMap<HeldVault, unknown>;
  /** True if the process has not read the list before. Each vault that the user named then has to exist. */
  readonly isStart: boolean;
}

/** The token, as the head of a copy names it. */
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/**
 * Makes the copy that of the token, with the vaults of the service's list. It drops other vaults, and vaults of which the token has other
 * Items; with another dialect it drops everything. Returns the ids of the vaults that the token reads but the list lacks, because they were
 * deleted or are broken. Throws an ItemVaultError, or a CliError for a token or a name that serve cannot use.
 */
export async function holdVaults(listing: Listing, { followed, isStart }: State): Promise<Set<string>> {
  const { client, copy, token, wanted, signal } = listing;
  const once = { signal, attempts: 1 };
  const { data: info } = await client.call("GET /v1/token", once);
  const { data: rows, headers } = await client.call("GET /v1/vaults", once);
  if (!isDialect(info.dialect) || !rows.every(({ id, name }) => parseId(id) !== undefined && typeof name === "string"))
    throw malformed();
  const isBroken = headers.has("Item-Vault-Broken");
  checkToken(info);
  const known = copy.token?.info.dialect === info.dialect ? copy.vaults : new Map<string, HeldVault>();
  const [before, now] = [itemsOf(copy.token?.info), itemsOf(info)];
  const readable = new Set(vaultsWith("r", info).map(idOf));
  // All requests for a vault that the token lists but does not read are passed on.
  const readRows = rows.filter(({ id }) => readable.has(idOf(id)));
  if (isStart && !isBroken) checkNames(wanted, readRows);
  const chosen = wanted.length === 0 ? readRows : readRows.filter((row) => wanted.some((name) => isNamed(row, name)));
  copy.token = { hash: hashOf(token), info };
  copy.isWhole = chosen.length === rows.length && !isBroken;
  copy.vaults = new Map(
    chosen.map((row) => {
      const id = idOf(row.id);
      // Data that another token had of the vault may exceed this token's scope.
      const vault = (before.get(id) === now.get(id) ? known.get(id) : undefined) ?? createVault(id, row);
      if (!followed.has(vault)) setRow(copy, vault, row); // the row may be older than the last event
      return [id, vault];
    }),
  );
  copy.changes++;
  const listed = new Set(rows.map(({ id }) => idOf(id)));
  return new Set([...readable].filter((id) => !listed.has(id)));
}

/** Returns the Items of a token in its vaults, by vault id: the ids of the Items, or "" for all of them (contract 8.15). */
const itemsOf = ({ vaults }: Pick<Token, "vaults"> = { vaults: {} }): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(vaults).map(([id, scope]) => [idOf(id), typeof scope === "string" ? "" : scope.items.toSorted().join()]),
  );

function checkToken({ stale }: Token): void {
  if (stale === undefined) return;
  // An Item that is read after its event may be older than the event, and no other event would follow.
  throw new CliError("The token was issued with `stale`, so its reads may miss what the events name", {
    exit: "usage",
    hint: "Give serve a token that was issued without it.",
  });
}

function checkNames(wanted: readonly string[], rows: readonly Vault[]): void {
  const missing = wanted.find((name) => !rows.some((row) => isNamed(row, name)));
  if (missing !== undefined) throw new CliError(`There is no vault "${printable(missing)}"`, { exit: "notFound" });
}

const isNamed = ({ id, name }: Vault, wanted: string): boolean => name === wanted || parseId(id) === parseId(wanted);
