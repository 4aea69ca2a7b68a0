import { type Client, ItemVaultError } from "@item-vault/client";
import { request } from "../api/answers.ts";
import { deletedPathOf, findItem, itemPathOf, vaultIdOf } from "../api/find.ts";
import type { Item } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
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
  const [name] = args as readonly [string];
  const vault = await vaultIdOf(client, options.vault);
  if (options.destroy) return destroy(io, client, vault, name, options.yes);
  const path = await itemPathOf(client, vault, name);
  const id = path.slice(path.lastIndexOf("/") + 1);
  await client.send("DELETE", path);
  await tell(io, `Deleted ${id}: \`item-vault item restore ${id}\` restores it`);
}

/** Destroys an Item, or else a deleted one of this id or title. */
async function destroy(io: Io, client: Client, vault: string, name: string, yes: boolean | undefined): Promise<void> {
  const path = await itemPathOf(client, vault, name).catch(async (error: unknown) => {
    if (!(error instanceof CliError && error.exit === "notFound")) throw error;
    return deletedPathOf(client, vault, name);
  });
  const id = path.slice(path.lastIndexOf("/") + 1);
  await confirm(io, `Destroy ${printable(name)} with its versions and Files for good?`, yes);
  const exists = path.includes("/deleted-items/") ? false : await orMissing(client.send("DELETE", path));
  const deleted = client.send("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`);
  // A service without a retention has destroyed the Item already (contract 14.8).
  await (exists ? orMissing(deleted) : deleted);
  await tell(io, `Destroyed ${id}`);
}

/** Out: whether what the request names exists. */
const orMissing = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ItemVaultError && error.status === 404) return false;
      throw error;
    },
  );
