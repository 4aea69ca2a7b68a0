import { type AdminVault, type Client, entriesOf, ItemVaultError } from "@item-vault/client";
import { adminVaultIdOf, type ItemPath } from "../../api/find.ts";
import { measured, openContent } from "../../files/content.ts";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/printable.ts";
import { interruptible } from "../../frame/signals.ts";
import { show, tell } from "../../output/format.ts";
import { countOfItems, startProgress } from "../../output/progress.ts";
import { tableOf } from "../../output/table.ts";
import type { KeysCall } from "./table.ts";

/** `admin keys renew` and `admin keys rewrite`: the data keys of vaults (contract 20.20). */

/** Loads the vaults of these names or ids. Throws a CliError for one that cannot be decrypted. */
async function loadVaults(admin: Client, names: readonly string[]): Promise<AdminVault[]> {
  const ids = await Promise.all(names.map((name) => adminVaultIdOf(admin, name)));
  const { data: vaults } = await admin.call("GET /v1/admin/vaults");
  return ids.map((id) => {
    const vault = vaults.find((one) => one.id === id);
    if (vault && "name" in vault) return vault;
    throw new CliError(`The vault ${id} ${vault ? "cannot be decrypted" : "does not exist"}`, { exit: "notFound" });
  });
}

/** Gives each vault a new data key. Stored data stays under its key. */
export async function renew({ io, options, admin: connect }: KeysCall, names: readonly string[]): Promise<void> {
  const admin = await connect();
  const renewed: AdminVault[] = [];
  for (const { id, dataKey } of await loadVaults(admin, names)) {
    const request = { path: { vault: id }, body: { replaces: dataKey.id } };
    renewed.push((await admin.call("POST /v1/admin/vaults/{vault}/keys", request)).data);
  }
  const rows = renewed.map(({ id, name, dataKey, earlierKeys }) => [id, name, dataKey.id, String(earlierKeys)]);
  await show(io, options.format, {
    json: renewed,
    table: (columns) => tableOf(["ID", "NAME", "KEY", "EARLIER KEYS"], rows, columns),
  });
}

/** Seconds for which the token of a rewrite is valid, if the program is killed before it revokes the token. */
const TOKEN_SECONDS = 86_400;

/**
 * Writes each Item and the content of each File of the vaults again, and destroys their earlier versions and deleted Items. It may be run again after
 * an interruption. Returns 1 if something cannot be written.
 */
export async function rewrite(call: KeysCall, names: readonly string[]): Promise<number | void> {
  const { io, options, admin: connect, issued } = call;
  const admin = await connect();
  let left = 0;
  for (const { id, name, items, earlierKeys } of await loadVaults(admin, names)) {
    if (earlierKeys === 0) {
      await tell(io, `${name}: nothing is under an earlier key. After a leak, run \`item-vault admin keys renew\` first`);
      continue;
    }
    const body = { name: "admin keys rewrite", vaults: { [id]: "rwd" as const }, expiresIn: TOKEN_SECONDS };
    const { data: token } = await admin.call("POST /v1/admin/tokens", { body });
    const progress = startProgress(io, name, items, countOfItems);
    try {
      const client = await issued(token.token!);
      const unwritten = await interruptible((signal) =>
        rewriteVault(client, id, { keepsVersions: options["keep-versions"] === true, signal, written: () => progress.add(1) }),
      );
      left += unwritten.length;
      for (const each of unwritten) await tell(io, `${name}: cannot be decrypted, and stays: ${each}`);
      await tell(io, `Rewrote ${name}: ${plural(items, "item")}`);
    } finally {
      progress.end();
      await admin.call("DELETE /v1/admin/tokens/{token}", { path: { token: token.id } });
    }
  }
  return left > 0 ? 1 : undefined;
}

interface Rewriting {
  readonly keepsVersions: boolean;
  readonly signal: AbortSignal;
  /** Is called after each Item. */
  readonly written: () => void;
}

/** Returns the ids of the Items and Files that cannot be decrypted. */
async function rewriteVault(client: Client, vault: string, { keepsVersions, signal, written }: Rewriting): Promise<string[]> {
  const unwritten: string[] = [];
  const { data: items } = await client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query: { archived: true } });
  for (const each of items) {
    signal.throwIfAborted();
    const path = { vault, item: each.id };
    unwritten.push(...("broken" in each ? [each.id] : await rewriteItem(client, path)));
    if (!keepsVersions) await destroyVersions(client, path);
    written();
  }
  if (keepsVersions) return unwritten;
  for await (const { id } of entriesOf(client, "GET /v1/vaults/{vault}/deleted-items", { path: { vault } })) {
    signal.throwIfAborted();
    await client.call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path: { vault, item: id } }).catch(unlessGone);
  }
  return unwritten;
}

/** Tries for an Item that others write at the same time. */
const TRIES_MAX = 10;

/** Returns the ids of the Files that cannot be decrypted. An Item that was deleted meanwhile needs nothing. */
async function rewriteItem(client: Client, path: ItemPath): Promise<readonly string[]> {
  for (let tries = 1; ; tries++)
    try {
      return await rewriteOnce(client, path);
    } catch (error) {
      if (error instanceof ItemVaultError && error.status === 404) return [];
      if (!(error instanceof ItemVaultError) || error.status !== 412 || tries === TRIES_MAX) throw error;
    }
}

async function rewriteOnce(client: Client, path: ItemPath): Promise<readonly string[]> {
  const load = () => client.call("GET /v1/vaults/{vault}/items/{item}", { path });
  const { data, etag } = await load();
  const { files, brokenFiles = [], favorite } = data;
  const body = [{ op: "replace" as const, path: "/favorite", value: favorite }];
  await client.call("PATCH /v1/vaults/{vault}/items/{item}", { path, headers: { "If-Match": etag }, body });
  for (const file of files) {
    const headers = { "If-Match": (await load()).etag, "Content-Length": String(file.size) };
    const { bytes } = measured(await openContent(client, path, file), file.size);
    const content = { path: { ...path, file: file.id }, headers, body: bytes };
    await client.call("PUT /v1/vaults/{vault}/items/{item}/files/{file}/content", content);
  }
  return brokenFiles;
}

async function destroyVersions(client: Client, path: ItemPath): Promise<void> {
  for await (const { version, current } of entriesOf(client, "GET /v1/vaults/{vault}/items/{item}/versions", { path }))
    if (!current)
      await client
        .call("DELETE /v1/vaults/{vault}/items/{item}/versions/{version}", { path: { ...path, version } })
        .catch(unlessGone);
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ItemVaultError) || error.status !== 404) throw error;
}
