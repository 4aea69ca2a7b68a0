import { type Client, ItemVaultError } from "@item-vault/client";
import { request } from "../api/answers.ts";
import { deletedPathOf, findItem, vaultIdOf } from "../api/find.ts";
import type { Item } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { confirm } from "../frame/prompt.ts";
import { show, tell } from "../output/format.ts";
import { printable } from "../frame/printable.ts";
import { versionOf } from "./input.ts";
import { shownItem } from "./present.ts";
import type { DELETE_OPTIONS, RESTORE_OPTIONS, STATE_OPTIONS } from "./options.ts";

/** Commands that change whether an Item is listed. */

/** `item archive`. */
export const archive = (call: Call<typeof STATE_OPTIONS>): Promise<void> => setState(call, "archive");

/** `item unarchive`: a title is looked up among the archived Items. */
export const unarchive = (call: Call<typeof STATE_OPTIONS>): Promise<void> => setState(call, "unarchive");

async function setState({ io, args, options, client: connect }: Call<typeof STATE_OPTIONS>, action: "archive" | "unarchive") {
  const client = await connect();
  const { path } = await findItem(client, args[0]!, options.vault, { archived: action === "unarchive" });
  const item = await request<Item>(client, "POST", `${path}/${action}`);
  await show(io, options.format, shownItem(item, options.reveal));
}

/** `item restore`: a deleted Item, or with `--version` an earlier version of an Item that exists. */
export async function restore({ io, args, options, client: connect }: Call<typeof RESTORE_OPTIONS>): Promise<void> {
  const client = await connect();
  const vault = await vaultIdOf(client, options.vault);
  const path =
    options.version === undefined
      ? await deletedPathOf(client, vault, args[0]!)
      : `${(await findItem(client, args[0]!, vault)).path}/versions/${versionOf(options.version)}`;
  const item = await request<Item>(client, "POST", `${path}/restore`);
  await show(io, options.format, shownItem(item, options.reveal));
}

/** `item delete`: to the deleted Items; with `--destroy` for good. */
export async function remove({ io, args, options, client: connect }: Call<typeof DELETE_OPTIONS>): Promise<void> {
  const client = await connect();
  const { vault, path } = await findItem(client, args[0]!, options.vault);
  const id = path.slice(path.lastIndexOf("/") + 1);
  if (options.destroy) await confirm(io, `Destroy ${printable(args[0]!)} with its versions and Files for good?`, options.yes);
  await client.send("DELETE", path);
  if (options.destroy) await destroy(client, `/v1/vaults/${vault}/deleted-items/${id}`);
  await tell(io, options.destroy ? `Destroyed ${id}` : `Deleted ${id}: \`item-vault item restore ${id}\` restores it`);
}

/** A service without a retention has destroyed the Item already (contract 14.8). */
async function destroy(client: Client, path: string): Promise<void> {
  await client.send("DELETE", path).catch((error: unknown) => {
    if (!(error instanceof ItemVaultError && error.status === 404)) throw error;
  });
}
