import type { BrokenItem, ItemSummary } from "@item-vault/client";

/** The shapes of the API that commands read (contract 2, 9.1, 13.14), where they differ from the generated types of the client. */

export type { Field, File as FileInfo, Item } from "@item-vault/client";

/** An Item of a list, which has no title when its stored record does not open (contract 11.10); of a deleted one also when it was deleted (contract 14.9). */
export type Summary = (ItemSummary | BrokenItem) & { readonly deletedAt?: string };

export interface Vault {
  readonly id: string;
  /** Absent in the admin's list where the stored record does not open (contract 13.18). */
  readonly name?: string;
  readonly description?: string;
  readonly items: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Token {
  readonly id: string;
  readonly name?: string;
  readonly dialect?: string;
  readonly vaults?: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly endedAt?: string;
  /** A token for service bindings: it has no text (contract 18.5). */
  readonly binding?: boolean;
  /** Only in the answer that issues it. */
  readonly token?: string;
}

/** A person for the admin. One whose record does not open has no email and no vaults (contract 25.1). */
export interface Person {
  readonly id: string;
  readonly email?: string;
  readonly vaults?: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly updatedAt?: string;
}
