import { type Client, ItemVaultError } from "@item-vault/client";
import { findItem, findVault, vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { show, tell } from "../output/format.ts";
import { duplicate, type Loaded, loadItem, placeOf, removeCopy } from "./duplicate.ts";
import { shownItem } from "./present.ts";
import type { COPY_OPTIONS } from "./table.ts";

type CopyCall = Call<typeof COPY_OPTIONS>;

/** `item copy`: a second Item with the same content and Files. */
export async function copy({ io, args, options, client: connect }: CopyCall): Promise<void> {
  const client = await connect();
  const { source, target } = await placesOf(client, args[0]!, options);
  const copied = await duplicate(io, client, source, target);
  if (source.item.version > 1) await tell(io, "Earlier versions are not copied");
  await show(io, options.format, shownItem(copied.item, options.reveal));
}

/**
 * `item move`: a copy in the other vault that was compared, and then the deletion of the Item, unless it was changed since. A program
 * that is killed leaves the Item, or both, never none.
 */
export async function move({ io, args, options, client: connect }: CopyCall): Promise<void> {
  const client = await connect();
  const { source, target, vault } = await placesOf(client, args[0]!, options);
  if (target.toLowerCase() === vault) throw new CliError("The item is already in this vault", { exit: "usage" });
  const copied = await duplicate(io, client, source, target);
  await deleteSource(io, client, source, copied);
  if (source.item.version > 1) await tell(io, "Earlier versions are not moved: they stay with the deleted item");
  await show(io, options.format, shownItem(copied.item, options.reveal));
}

async function placesOf(client: Client, name: string, { vault: from, to }: CopyCall["options"]) {
  const source = await loadItem(client, await findItem(client, name, from));
  const vault = source.item.vault.id;
  const target = await vaultIdOf(client, to);
  // Only the service translates an id of the other dialect (contract 3.2).
  const sameForm = target.length === vault.length;
  return { source, vault, target: sameForm ? target : (await findVault(client, target)).id };
}

/** Throws if the Item was changed since it was copied, or may not be deleted. The copy is then deleted. */
async function deleteSource(io: Io, client: Client, { path, etag }: Loaded, copied: Loaded): Promise<void> {
  try {
    await client.call("DELETE /v1/vaults/{vault}/items/{item}", { path, headers: { "If-Match": etag } });
  } catch (error) {
    if (!(error instanceof ItemVaultError)) throw error;
    if (error.status === 412) {
      await removeCopy(io, client, copied.path);
      throw new CliError("The item was changed while it was copied, so it was not moved", {
        exit: "conflict",
        hint: "Run the command again.",
      });
    }
    if (error.status === 401 || error.status === 403) {
      await removeCopy(io, client, copied.path);
      throw error;
    }
    await tell(io, `The copy is complete: ${placeOf(copied.path)}. The item may still be in its old vault.`);
    throw error;
  }
}
