import type { Client } from "@item-vault/client";
import type { ServiceVault, TargetVault } from "@item-vault/transfer/service";
import { CliError } from "../frame/failure.ts";
import { chooseVault, listVaults, sameName } from "./vaults.ts";

/** The vaults that an import writes to. */

export interface Targets {
  /** Returns the vault of an Item whose vault in the source has this name. */
  of(name: string | undefined): TargetVault;
  readonly vaults: readonly TargetVault[];
  /** Names of vaults that do not exist, in a dry run with `create`. */
  readonly missing: readonly string[];
  /** Revokes tokens issued for the import. */
  close(): Promise<void>;
}

export interface TargetOptions {
  /** The vault of all items: a name or an id. */
  readonly vault?: string | undefined;
  /** True if the admin creates missing vaults. */
  readonly create: boolean;
  readonly dryRun: boolean;
  readonly client: () => Promise<Client>;
  readonly admin: () => Promise<Client>;
  /** A client with a token that the admin has issued. */
  readonly issued: (token: string) => Promise<Client>;
}

/** Finds the vaults. `names` are the names of the vaults in the source. Throws a CliError that names missing vaults. */
export async function findTargets(names: readonly (string | undefined)[], options: TargetOptions): Promise<Targets> {
  const { vault: wanted, create, client } = options;
  const own = create ? await client().catch(() => undefined) : await client();
  const listed = own ? (await listVaults(own)).vaults : [];
  const readable = listed.map(({ id, name }): TargetVault => ({ id, name, client: own! }));
  const otherwise = readable.length === 1 ? readable[0]!.id : undefined;
  const choose = (name: string | undefined) => wanted ?? name ?? otherwise;
  const needed = [...new Set(names.map(choose))];
  if (needed.includes(undefined))
    throw new CliError("The source does not say in which vaults its items are", {
      exit: "usage",
      hint: "Choose one with --vault.",
    });
  const found = new Map<string, TargetVault>();
  const absent: string[] = [];
  for (const name of needed as string[]) {
    const there = readable.some((vault) => sameName(vault.name, name) || vault.id === name);
    if (there || !create) found.set(name, findVault(readable, name));
    else absent.push(name);
  }
  const made = absent.length > 0 && !options.dryRun ? await makeVaults(absent, options) : undefined;
  for (const [name, vault] of made?.vaults ?? []) found.set(name, vault);
  return {
    of: (name) => found.get(choose(name)!)!,
    vaults: [...new Map([...found.values()].map((vault) => [vault.id, vault])).values()],
    missing: made ? [] : absent,
    close: async () => await made?.close(),
  };
}

function findVault(readable: readonly TargetVault[], name: string): TargetVault {
  const { id } = chooseWithHint(readable, name);
  return readable.find((vault) => vault.id === id)!;
}

function chooseWithHint(readable: readonly TargetVault[], name: string): ServiceVault {
  try {
    return chooseVault(readable, name);
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== "notFound") throw error;
    throw new CliError(error.message, {
      exit: "notFound",
      hint: "Choose a vault with --vault, or make it with --create-vaults.",
    });
  }
}

const TOKEN_LIFETIME_SECONDS = 24 * 60 * 60;

/**
 * Creates missing vaults, and a token that writes to all of them: no token reads a vault created later. The token is revoked at the end, and
 * expires after a day if the import is killed.
 */
async function makeVaults(names: readonly string[], { admin, issued }: TargetOptions) {
  const client = await admin();
  const { data: listed } = await client.call("GET /v1/admin/vaults");
  // The name of a broken vault is unknown.
  const existing: ServiceVault[] = listed.flatMap((vault) => ("broken" in vault ? [] : [vault]));
  const vaults: [string, ServiceVault][] = [];
  for (const name of names) {
    if (!existing.some((vault) => sameName(vault.name, name)))
      existing.push((await client.call("POST /v1/admin/vaults", { body: { name } })).data);
    vaults.push([name, chooseVault(existing, name)]);
  }
  const permissions = Object.fromEntries(vaults.map(([, { id }]) => [id, "rw"] as const));
  const body = { name: "item-vault import", vaults: permissions, expiresIn: TOKEN_LIFETIME_SECONDS };
  const { data: token } = await client.call("POST /v1/admin/tokens", { body });
  const writer = await issued(token.token!);
  return {
    vaults: vaults.map(([name, vault]) => [name, { ...vault, client: writer }] as const),
    close: async () => void (await client.call("DELETE /v1/admin/tokens/{token}", { path: { token: token.id } })),
  };
}
