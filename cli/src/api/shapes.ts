/** The shapes of the API that commands read (contract 2, 9.1, 13.14). */

export interface Field {
  readonly id: string;
  readonly section?: { readonly id: string; readonly label?: string };
  readonly type: string;
  readonly purpose: string;
  readonly label: string;
  readonly value: string;
  readonly entropy?: number;
  readonly totp?: string;
}

export interface FileInfo {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly section?: { readonly id: string };
}

export interface Summary {
  readonly id: string;
  readonly title: string;
  readonly vault: { readonly id: string };
  readonly category: string;
  readonly urls: readonly { readonly href: string; readonly label?: string; readonly primary?: boolean }[];
  readonly favorite: boolean;
  readonly tags: readonly string[];
  readonly version: number;
  readonly state?: "ARCHIVED" | "DELETED";
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastEditedBy: string;
  /** Of a deleted Item (contract 14.9). */
  readonly deletedAt?: string;
}

export interface Item extends Summary {
  readonly sections: readonly { readonly id: string; readonly label?: string }[];
  readonly fields: readonly Field[];
  readonly files: readonly FileInfo[];
}

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
