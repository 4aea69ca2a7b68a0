import type { Vault } from "@item-vault/client";
import { adminVaultIdOf, findVault, isId, onlyOne } from "../api/find.ts";
import { type AnyVault, DOES_NOT_OPEN, opened } from "../api/shapes.ts";
import { adviceForName } from "../frame/advice.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { confirm } from "../frame/prompt.ts";
import { type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import type { VAULT_CREATE_OPTIONS, VAULT_DELETE_OPTIONS, VAULT_EDIT_OPTIONS, VAULT_READ_OPTIONS } from "./table.ts";

/** `vault list`. */
export async function list({ io, options, client, admin }: Call<typeof VAULT_READ_OPTIONS>): Promise<void> {
  const vaults = options.admin
    ? (await (await admin()).call("GET /v1/admin/vaults")).data
    : (await (await client()).call("GET /v1/vaults")).data;
  const rows = vaults.map((vault) => [vault.id, nameOf(vault), String(vault.items), timeOf(vault.updatedAt)]);
  await show(io, options.format, {
    json: vaults,
    table: (columns) => tableOf(["ID", "NAME", "ITEMS", "UPDATED"], rows, columns),
  });
}

/** `vault get`. The admin has no request for one vault, so it is taken from the list. */
export async function get({ io, args, options, client: connect, admin }: Call<typeof VAULT_READ_OPTIONS>): Promise<void> {
  const name = args[0]!;
  if (options.admin) {
    const { data: vaults } = await (await admin()).call("GET /v1/admin/vaults");
    const found = vaults.filter((vault) => (isId(name) ? vault.id === name.toLowerCase() : opened(vault).name === name));
    const hint = adviceForName(
      vaults.map((vault) => opened(vault).name),
      name,
      "`item-vault vault list --admin` lists all vaults.",
    );
    return show(io, options.format, shownVault(onlyOne(found, "vault", name, { hint })));
  }
  return show(io, options.format, shownVault(await findVault(await connect(), name)));
}

/** `vault create`. */
export async function create({ io, args, options, admin }: Call<typeof VAULT_CREATE_OPTIONS>): Promise<void> {
  const { description } = options;
  const body = { name: args[0]!, ...(description !== undefined && { description }) };
  const { data: vault } = await (await admin()).call("POST /v1/admin/vaults", { body });
  await show(io, options.format, shownVault(vault));
}

/** `vault edit`. */
export async function edit({ io, args, options, admin: connect }: Call<typeof VAULT_EDIT_OPTIONS>): Promise<void> {
  const { name, description } = options;
  if (name === undefined && description === undefined)
    throw new CliError("Nothing to change is given", { exit: "usage", hint: "Give --name or --description." });
  const admin = await connect();
  const body = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  const path = { vault: await adminVaultIdOf(admin, args[0]!) };
  const { data: vault } = await admin.call("PATCH /v1/admin/vaults/{vault}", { path, body });
  await show(io, options.format, shownVault(vault));
}

/** `vault delete`: deletes the keys of the vault, so nothing restores it. */
export async function remove({ io, args, options, admin: connect }: Call<typeof VAULT_DELETE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await adminVaultIdOf(admin, args[0]!);
  await confirm(io, `Delete the vault ${printable(args[0]!)} (${id}) and all its items permanently?`, options.yes);
  await admin.call("DELETE /v1/admin/vaults/{vault}", { path: { vault: id } });
  await tell(io, `Deleted the vault ${id}`);
}

const nameOf = (vault: Vault | AnyVault): string => opened(vault).name ?? DOES_NOT_OPEN;

const shownVault = (vault: Vault | AnyVault): Shown => ({
  json: vault,
  table: () =>
    pairsOf([
      ["ID", vault.id],
      ["Name", nameOf(vault)],
      ["Description", opened(vault).description ?? ""],
      ["Items", String(vault.items)],
      ["Updated", timeOf(vault.updatedAt)],
    ]),
});
