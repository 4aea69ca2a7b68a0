import { type Client, ItemVaultError } from "@item-vault/client";
import { parseId } from "../../../src/model/ids.ts";
import { allOf, entriesOf, request } from "../api/answers.ts";
import { CliError } from "../frame/failure.ts";

/** What import and export read of a service: shapes of its answers (contract 2), and its lists. */

export interface ServiceVault {
  readonly id: string;
  readonly name: string;
}

/** A vault that an import writes to. */
export interface TargetVault extends ServiceVault {
  readonly client: Client;
}

export interface ServiceSummary {
  readonly id: string;
  readonly title?: string;
  readonly version?: number;
  readonly urls?: readonly { readonly href: string; readonly label?: string; readonly primary?: boolean }[] | null;
  readonly username?: string;
  /** The stored record does not open, so there is no title (contract 11.10). */
  readonly broken?: string;
}

export interface ServiceField {
  readonly id?: string;
  readonly type?: string;
  readonly purpose?: string;
  readonly label?: string;
  readonly value?: string;
  readonly section?: { readonly id: string; readonly label?: string };
}

export interface ServiceFile {
  readonly id: string;
  readonly name?: string;
  readonly size?: number;
  readonly section?: { readonly id: string };
}

export interface ServiceItem extends ServiceSummary {
  readonly category: string;
  readonly favorite?: boolean;
  readonly state?: string;
  readonly tags?: readonly string[] | null;
  readonly sections?: readonly { readonly id: string; readonly label?: string }[] | null;
  readonly fields?: readonly ServiceField[] | null;
  readonly files?: readonly ServiceFile[] | null;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export const isStatus = (error: unknown, status: number): boolean => error instanceof ItemVaultError && error.status === status;

/** The answer, or `undefined` for a 404. */
export const orMissing = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });

/** The summaries of a vault, archived Items too. */
export async function listItems(client: Client, vault: string): Promise<ServiceSummary[]> {
  const query = { archived: true, include: "username", limit: 1000 };
  return await allOf(entriesOf<ServiceSummary>(client, `/v1/vaults/${vault}/items`, query));
}

export const listVaults = (client: Client): Promise<ServiceVault[]> => request<ServiceVault[]>(client, "GET", "/v1/vaults");

/** A comparison of names of vaults as the service does it. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The vault of an id or a name. Errors: throws a CliError when there is none, or several have the name. */
export function chooseVault(vaults: readonly ServiceVault[], wanted: string): ServiceVault {
  const id = parseId(wanted);
  const found = vaults.filter((vault) => id !== undefined && parseId(vault.id) === id);
  const named = found.length > 0 ? found : vaults.filter(({ name }) => sameName(name, wanted));
  if (named.length === 1) return named[0]!;
  const many = named.length > 1;
  throw new CliError(many ? "Several vaults have this name" : `The token reads no vault of the name ${JSON.stringify(wanted)}`, {
    exit: many ? "conflict" : "notFound",
    hint: many ? "Use the id of the vault." : "`item-vault whoami` shows the vaults of the token.",
  });
}
