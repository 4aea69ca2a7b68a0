import { type Client, ItemVaultError } from "@item-vault/client";
import { deletedIdOf, findItem, type ItemPath, itemIdOf, vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { confirm } from "../frame/prompt.ts";
import { show, tell } from "../output/format.ts";
import { versionOf } from "./input.ts";
import { shownItem } from "./present.ts";
import type { DELETE_OPTIONS, RESTORE_OPTIONS, STATE_OPTIONS } from "./table.ts";

/** Commands that change whether an Item is listed. */

/** `item archive`. */
export const archive = (call: Call<typeof STATE_OPTIONS>): Promise<void> => setState(call, "archive");

/** `item unarchive`: a title is looked up among the archived Items. */
export const unarchive = (call: Call<typeof STATE_OPTIONS>): Promise<void> => setState(call, "unarchive");

async function setState({ io, args, options, client: connect }: Call<typeof STATE_OPTIONS>, action: "archive" | "unarchive") {
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault, { archived: action === "unarchive" });
  const { data: item } = await client.call(`POST /v1/vaults/{vault}/items/{item}/${action}`, { path });
  await show(io, options.format, shownItem(item, options.reveal));
}

/** `item restore`: a deleted Item, or with `--version` an earlier version of an Item that exists. */
export async function restore({ io, args, options, client: connect }: Call<typeof RESTORE_OPTIONS>): Promise<void> {
  const client = await connect();
  const vault = await vaultIdOf(client, options.vault);
  const { data: item } =
    options.version === undefined
      ? await client.call("POST /v1/vaults/{vault}/deleted-items/{item}/restore", {
          path: { vault, item: await deletedIdOf(client, vault, args[0]!) },
        })
      : await client.call("POST /v1/vaults/{vault}/items/{item}/versions/{version}/restore", {
          path: { ...(await findItem(client, args[0]!, vault)), version: versionOf(options.version) },
        });
  await show(io, options.format, shownItem(item, options.reveal));
}

/** `item delete`: to the deleted Items; with `--destroy` for good. */
export async function remove({ io, args, options, client: connect }: Call<typeof DELETE_OPTIONS>): Promise<void> {
  const version = options.version === undefined ? undefined : versionOf(options.version);
  if (version !== undefined && !options.destroy)
    throw new CliError("A version cannot be restored once it is deleted", { exit: "usage", hint: "Add --destroy to delete it." });
  const client = await connect();
  const [name] = args as readonly [string];
  const vault = await vaultIdOf(client, options.vault);
  if (version !== undefined)
    return destroyVersion(io, client, { ...(await findItem(client, name, vault)), version }, options.yes);
  if (options.destroy) return destroy(io, client, vault, name, options.yes);
  const item = await itemIdOf(client, vault, name);
  await client.call("DELETE /v1/vaults/{vault}/items/{item}", { path: { vault, item } });
  await tell(io, `Deleted ${item}: \`item-vault item restore ${item}\` restores it`);
}

/** Destroys an earlier version of an Item (contract 14.7). */
async function destroyVersion(io: Io, client: Client, path: ItemPath & { readonly version: number }, yes?: boolean) {
  await confirm(io, `Permanently delete version ${path.version}?`, yes);
  await client.call("DELETE /v1/vaults/{vault}/items/{item}/versions/{version}", { path });
  await tell(io, `Destroyed version ${path.version} of ${path.item}`);
}

/** Destroys an Item, or else a deleted one of this id or title. */
async function destroy(io: Io, client: Client, vault: string, name: string, yes: boolean | undefined): Promise<void> {
  const listed = await itemIdOf(client, vault, name).catch((error: unknown) => {
    if (!(error instanceof CliError && error.exit === "notFound")) throw error;
    return undefined;
  });
  const path = { vault, item: listed ?? (await deletedIdOf(client, vault, name)) };
  await confirm(io, `Permanently delete ${printable(name)}, its versions and files?`, yes);
  const destroyDeleted = () => client.call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path });
  // This comes first, so that a token without the permission to destroy deletes nothing.
  const isDestroyed = await orMissing(destroyDeleted());
  const exists = listed !== undefined && (await orMissing(client.call("DELETE /v1/vaults/{vault}/items/{item}", { path })));
  try {
    // A service without a retention has destroyed the Item already (contract 14.8).
    if (exists) await orMissing(destroyDeleted());
    else if (!isDestroyed) await destroyDeleted(); // throws that it does not exist
  } catch (error) {
    if (exists)
      await tell(io, `The item was deleted, and is not destroyed yet: \`item-vault item restore ${path.item}\` restores it`);
    throw error;
  }
  await tell(io, `Destroyed ${path.item}`);
}

/** Returns true if the target of the request exists. */
const orMissing = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ItemVaultError && error.status === 404) return false;
      throw error;
    },
  );
