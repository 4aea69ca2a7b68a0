// Generated from src/api/openapi/ by `npm run types`. Do not edit.

/** A body that is no JSON, such as the content of a File. */
export type Bytes = string | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

/** A vault, by its id. */
export interface VaultReference {
  id: Id;
}

/** The vault of an Item. */
export interface VaultOfItem {
  id: Id;
  /** Its name; absent when that cannot be decrypted (contract 2.23). */
  name?: string;
}

/** An Item, by its id. */
export interface ItemReference {
  id: Id;
}

/** A URL of an Item (contract 2.3). */
export interface Url {
  /** Required, and possibly empty. */
  href: string;
  label?: string;
  primary?: boolean;
}

/** A section of an Item. */
export interface Section {
  id: string;
  label: string;
}

/** The section of a field. It has the section's label, unless that is empty or longer than 1 KiB (contract 2.22). */
export interface SectionReference {
  id: string;
  label?: string;
}

/** A field of an Item (contract 2.4). */
export interface Field {
  /** As the client chose it, or 26 generated characters (contract 2.13). */
  id: string;
  section?: SectionReference;
  type: FieldType;
  purpose?: Purpose;
  label: string;
  /** In the form of the token's dialect (contract 3.5); `""` when the field has none. */
  value: string;
  /** Bits; only of purpose PASSWORD with a value (contract 7.6). */
  entropy?: number;
  /** The current code; only of type OTP with a value. */
  totp?: string;
}

/** A File of an Item (contract 9.1). */
export interface File {
  id: Id;
  name: string;
  /** Bytes of the content. */
  size: number;
  /** The path of the content, in the form of the token's dialect (contract 3.5). */
  content_path: string;
  /** The section of the Item that the File is in. */
  section?: {
    id: string;
  };
  /** The bytes, where `inline_files=true` asks for them. */
  content?: string;
}

/** An Item in a list. It contains no field (contract 2.1). */
export interface ItemSummary {
  id: Id;
  /** The title; `""` when none was given. */
  title: string;
  vault: VaultOfItem;
  category: Category;
  urls: Url[];
  favorite: boolean;
  tags: string[];
  /** 1 at creation, +1 for each write that changes the Item (contract 2.18). */
  version: number;
  /** Absent for an ordinary Item. Read-only. */
  state?: "ARCHIVED" | "DELETED";
  createdAt: Time;
  /** When the Item was written last. It never goes back. */
  updatedAt: Time;
  /** The id of the token that wrote last. */
  lastEditedBy: Id;
  /** The value of the USERNAME field, with `include=username` and where there is one (contract 11.8). */
  username?: string;
}

/** An Item in a list whose stored record cannot be decrypted (contract 11.10). */
export interface BrokenItem {
  /** The id, as the row has it. */
  id: string;
  vault: VaultReference;
  /** The version; absent where the column is damaged. */
  version?: number;
  /** The stored record cannot be decrypted (contract 11.10). */
  broken: "integrity";
}

/** A full Item (contract 2.2). */
export interface Item {
  id: Id;
  /** The title; `""` when none was given. */
  title: string;
  vault: VaultOfItem;
  category: Category;
  urls: Url[];
  favorite: boolean;
  tags: string[];
  /** 1 at creation, +1 for each write that changes the Item (contract 2.18). */
  version: number;
  /** Absent for an ordinary Item. Read-only. */
  state?: "ARCHIVED" | "DELETED";
  createdAt: Time;
  /** When the Item was written last. It never goes back. */
  updatedAt: Time;
  /** The id of the token that wrote last. */
  lastEditedBy: Id;
  /** In the order of the request that wrote them. */
  sections: Section[];
  /** In the order of the request that wrote them. */
  fields: Field[];
  /** In the order of their ids. */
  files: File[];
  /** The ids of the Files whose stored records cannot be decrypted; absent without one (contract 9.14). */
  brokenFiles?: string[];
}

/** A deleted Item in a list (contract 14.9). */
export interface DeletedItemSummary {
  id: Id;
  /** The title; `""` when none was given. */
  title: string;
  vault: VaultOfItem;
  category: Category;
  urls: Url[];
  favorite: boolean;
  tags: string[];
  /** 1 at creation, +1 for each write that changes the Item (contract 2.18). */
  version: number;
  state: "DELETED";
  createdAt: Time;
  /** When the Item was written last. It never goes back. */
  updatedAt: Time;
  /** The id of the token that wrote last. */
  lastEditedBy: Id;
  deletedAt: Time;
  /** The id of the token that deleted the Item. */
  deletedBy: Id;
}

/** A deleted Item in a list whose stored record cannot be decrypted (contract 14.9). */
export interface BrokenDeletedItem {
  /** The id, as the row has it. */
  id: string;
  vault: VaultReference;
  /** The version; absent where the column is damaged. */
  version?: number;
  /** The stored record cannot be decrypted (contract 11.10). */
  broken: "integrity";
  state: "DELETED";
  deletedAt: Time;
  /** As the row has it. */
  deletedBy: string;
}

/** A full deleted Item, as it was when it was deleted (contract 14.10). */
export interface DeletedItem {
  id: Id;
  /** The title; `""` when none was given. */
  title: string;
  vault: VaultOfItem;
  category: Category;
  urls: Url[];
  favorite: boolean;
  tags: string[];
  /** 1 at creation, +1 for each write that changes the Item (contract 2.18). */
  version: number;
  state: "DELETED";
  createdAt: Time;
  /** When the Item was written last. It never goes back. */
  updatedAt: Time;
  /** The id of the token that wrote last. */
  lastEditedBy: Id;
  /** In the order of the request that wrote them. */
  sections: Section[];
  /** In the order of the request that wrote them. */
  fields: Field[];
  /** In the order of their ids. */
  files: File[];
  /** The ids of the Files whose stored records cannot be decrypted; absent without one (contract 9.14). */
  brokenFiles?: string[];
  deletedAt: Time;
  /** The id of the token that deleted the Item. */
  deletedBy: Id;
}

/** A version in the list whose stored record cannot be decrypted (contract 14.2). */
export interface BrokenVersion {
  /** The number of the version. */
  version: number;
  /** Whether it is the current version. */
  current: boolean;
  /** The stored record cannot be decrypted (contract 11.10). */
  broken: "integrity";
}

/** A version of an Item in the list of its versions (contract 14.2). */
export interface Version {
  /** The number of the version. */
  version: number;
  /** When the version was written. */
  updatedAt: Time;
  /** The id of the token that wrote the version. */
  lastEditedBy: Id;
  title: string;
  /** Whether it is the current version. */
  current: boolean;
}

/** A URL of an Item (contract 2.3). */
export interface UrlInput {
  /** May be empty. At most 65536 bytes of UTF-8. */
  href: string;
  /** A label. At most 65536 bytes of UTF-8. */
  label?: string | null;
  primary?: boolean | null;
}

/** A section of an Item. Without an id it gets a generated one (contract 2.13). */
export interface SectionInput {
  /** At most 255 bytes (contract 2.14). At most 65536 bytes of UTF-8. */
  id?: string | null;
  /** The label. At most 65536 bytes of UTF-8. */
  label?: string | null;
}

/** The section of a field. A section that the Item does not declare is added (contract 2.15). */
export interface SectionReferenceInput {
  /** An empty id means no section. At most 65536 bytes of UTF-8. */
  id?: string | null;
  /** The label of a section that is not declared. At most 65536 bytes of UTF-8. */
  label?: string | null;
}

/** How a value is generated (contract 7.2). A recipe that leaves no character is a 400. */
export interface Recipe {
  /** Characters; by default 32. */
  length?: number | null;
  /** Empty means all sets. */
  characterSets?: Array<CharacterSet | "" | null> | null;
  /** Characters that the value does not have. At most 65536 bytes of UTF-8. */
  excludeCharacters?: string | null;
}

/** A field of an Item (contract 2.4). */
export interface FieldInput {
  /** Without one, the purpose gives it, or it is generated (contract 2.12, 2.13). At most 65536 bytes of UTF-8. */
  id?: string | null;
  /** The section that it is in; absent: in none. */
  section?: SectionReferenceInput | null;
  /** The type; STRING when absent (contract 2.7). */
  type?: FieldType | "TOTP" | "" | null;
  /** The purpose; an Item has at most one field of each (contract 2.8). */
  purpose?: Purpose | "" | null;
  /** The label. At most 65536 bytes of UTF-8. */
  label?: string | null;
  /** The value. Types DATE, MONTH_YEAR and OTP check it (contract 2.10, 2.11). At most 65536 bytes of UTF-8. */
  value?: string | null;
  /** Gives the field a random value if it has none, by default no; at most 64 values per request (contract 7.1, 7.8). */
  generate?: boolean | null;
  /** How the value is generated. */
  recipe?: Recipe | null;
}

/** An Item to create. Read-only attributes are ignored (contract 2.16). */
export interface NewItem {
  /** The title. At most 1024 bytes of UTF-8. */
  title?: string | null;
  /** By default false. */
  favorite?: boolean | null;
  /** The tags, in this order. Each has at most 65536 bytes of UTF-8, and all together 16384 (contract 12.1). */
  tags?: string[] | null;
  /** The URLs, in this order. */
  urls?: UrlInput[] | null;
  /** The sections, in this order. */
  sections?: SectionInput[] | null;
  /** The fields, in this order. */
  fields?: FieldInput[] | null;
  category: Category;
  /** An id has to be that of the path. A text that has no form of an id is ignored (contract 2.19). */
  vault?: {
    /** The id of the vault. At most 65536 bytes of UTF-8. */
    id?: string | null;
  } | null;
}

/** The Item that replaces another one, except its Files (contract 2.20). Read-only attributes are ignored (contract 2.16). */
export interface ItemReplacement {
  /** The title. At most 1024 bytes of UTF-8. */
  title?: string | null;
  /** By default false. */
  favorite?: boolean | null;
  /** The tags, in this order. Each has at most 65536 bytes of UTF-8, and all together 16384 (contract 12.1). */
  tags?: string[] | null;
  /** The URLs, in this order. */
  urls?: UrlInput[] | null;
  /** The sections, in this order. */
  sections?: SectionInput[] | null;
  /** The fields, in this order. */
  fields?: FieldInput[] | null;
  category: Category;
  /** The vault of the path. */
  vault: {
    /** The id of the vault (contract 2.19). At most 65536 bytes of UTF-8. */
    id: string;
  };
}

/** One change of an Item (contract 6). `add` and `replace` need a value that is not `null`. */
export interface PatchOperation {
  op: "add" | "remove" | "replace";
  /** A JSON pointer (RFC 6901) to the Item, an attribute, a tag, a URL, a section or a field (contract 6.3). */
  path: string;
  /** What the path is set to: its schema is that of the attribute in NewItem. */
  value?: unknown;
}

/** Operations that are applied in order, all or none (contract 6.1). An empty array changes nothing. */
export type Patch = PatchOperation[];

/** A vault (contract 2.5). */
export interface Vault {
  id: Id;
  name: string;
  description: string;
  /** +1 for each change of name, description, quota or key. */
  attributeVersion: number;
  /** +1 for each write to an Item. */
  contentVersion: number;
  /** How many Items the vault holds. */
  items: number;
  type: "USER_CREATED";
  createdAt: Time;
  updatedAt: Time;
}

/** A vault for the admin, with its quotas, what it uses of them (contract 13.23), and its data keys (contract 20.20). */
export interface AdminVault {
  id: Uuid;
  name: string;
  description: string;
  /** +1 for each change of name, description, quota or key. */
  attributeVersion: number;
  /** +1 for each write to an Item. */
  contentVersion: number;
  /** How many Items the vault holds. */
  items: number;
  type: "USER_CREATED";
  createdAt: Time;
  updatedAt: Time;
  quota: Quota;
  usage: Usage;
  dataKey: DataKey;
  /** How many earlier data keys its records may be under (contract 20.22). */
  earlierKeys: number;
  /** How many webhooks it has. Only in the list, and absent without one (contract 13.12). */
  webhooks?: number;
}

/** A vault whose stored record cannot be decrypted. It can only be deleted (contract 13.18). */
export interface BrokenVault {
  /** The id, as the row has it. */
  id: string;
  /** As the row has it. */
  attributeVersion: number;
  /** +1 for each write to an Item. */
  contentVersion: number;
  /** How many Items the vault holds. */
  items: number;
  type: "USER_CREATED";
  createdAt: Time;
  updatedAt: Time;
  quota: Quota;
  usage: Usage;
  /** The data key that seals the vault. */
  dataKey: {
    /** The id, as the row has it. */
    id: string;
    createdAt: Time;
  };
  /** How many earlier data keys its records may be under (contract 20.22). */
  earlierKeys: number;
  /** How many webhooks it has. Only in the list, and absent without one (contract 13.12). */
  webhooks?: number;
  /** Why the stored record cannot be decrypted (contract 13.18). */
  broken: "integrity" | "misconfigured";
}

/** The data key that seals the vault (contract 20.20). */
export interface DataKey {
  id: Uuid;
  createdAt: Time;
}

/** What a vault may hold (contract 12.6). */
export interface Quota {
  /** Items, deleted ones included. */
  items: number;
  /** Bytes of the encrypted form of Items and of the rows of Files. */
  bytes: number;
  /** Bytes of contents. */
  fileBytes: number;
}

/** What a vault uses of its quotas. */
export interface Usage {
  /** Items, deleted ones included. */
  items: number;
  /** Bytes of the encrypted form of Items and of the rows of Files. */
  bytes: number;
  /** Bytes of contents. */
  fileBytes: number;
}

/** The quotas that change (contract 13.23). */
export interface QuotaInput {
  /** Items. `null` makes it the default again. */
  items?: number | null;
  /** Bytes of the encrypted form of Items and of the rows of Files. `null` makes it the default again. */
  bytes?: number | null;
  /** Bytes of contents. `null` makes it the default again. */
  fileBytes?: number | null;
}

/** A vault to create (contract 13.12). */
export interface NewVault {
  /** The name. At most 1024 bytes of UTF-8. */
  name: string;
  /** A description. At most 65536 bytes of UTF-8. */
  description?: string | null;
  /** What it may hold; absent: the defaults. */
  quota?: QuotaInput | null;
}

/** A new data key for a vault (contract 20.21). */
export interface VaultKeyRenewal {
  /** The id of the data key that the vault has. */
  replaces: IdInput;
}

/** What changes of a vault (contract 13.13). What is absent stays. */
export interface VaultChange {
  /** The name. At most 1024 bytes of UTF-8. */
  name?: string | null;
  /** A description. At most 65536 bytes of UTF-8. */
  description?: string | null;
  /** The quotas that change. */
  quota?: QuotaInput | null;
}

/** A permission that holds for some Items of the vault only (contract 8.15). */
export interface ItemScope {
  permissions: Permission;
  /** The ids of the Items, at most 100. For the token no other one exists. */
  items: IdInput[];
}

/** A token as it was issued (contract 8.10), or a person (contract 25.8). */
export interface Token {
  id: Id;
  name: string;
  dialect: Dialect;
  /** The permissions by vault id. */
  vaults: Record<string, Permission | ItemScope>;
  /** Seconds by which its reads may be old (contract 8.12); absent: they read the primary. */
  stale?: number;
  /** Whether the token may issue others (contract 8.16). */
  delegate?: true;
  /** Whether it is for the admin routes, and opens no vaults (contract 8.18). */
  admin?: true;
  /** Whether it only reads backups (contract 8.19). */
  backupsOnly?: true;
  /** Whether it only reads the lists of the admin (contract 8.20). */
  adminRead?: true;
  /** The token that has issued it (contract 8.16); absent: the admin has. */
  parent?: Id;
  createdAt: Time;
  expiresAt: Time;
  /** Whether it is a person, whose email is the name. */
  person?: true;
}

/** A new token (contract 8.16, 13.14). Ids of vaults have the form of its dialect. */
export interface IssuedToken {
  id: Id;
  name: string;
  dialect: Dialect;
  /** The permissions by vault id. */
  vaults: Record<string, Permission | ItemScope>;
  /** Seconds by which its reads may be old (contract 8.12); absent: they read the primary. */
  stale?: number;
  /** Whether the token may issue others (contract 8.16). */
  delegate?: true;
  /** Whether it is for the admin routes, and opens no vaults (contract 8.18). */
  admin?: true;
  /** Whether it only reads backups (contract 8.19). */
  backupsOnly?: true;
  /** Whether it only reads the lists of the admin (contract 8.20). */
  adminRead?: true;
  /** The token that has issued it (contract 8.16); absent: the admin has. */
  parent?: Id;
  createdAt: Time;
  expiresAt: Time;
  /** Whether the token is for service bindings (contract 18.5). */
  binding?: true;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  /** What a client sends as `Authorization: Bearer …`. No other answer contains it, except one to a repeated request. Absent for a token of service bindings, which no request can carry (contract 18.5). */
  token?: string;
}

/** A token in a list, or one for the admin (contract 8.16, 13.15, 13.17), or a person (contract 25.8). */
export interface ListedToken {
  id: Id;
  name: string;
  dialect: Dialect;
  /** The permissions by vault id. */
  vaults: Record<string, Permission | ItemScope>;
  /** Seconds by which its reads may be old (contract 8.12); absent: they read the primary. */
  stale?: number;
  /** Whether the token may issue others (contract 8.16). */
  delegate?: true;
  /** Whether it is for the admin routes, and opens no vaults (contract 8.18). */
  admin?: true;
  /** Whether it only reads backups (contract 8.19). */
  backupsOnly?: true;
  /** Whether it only reads the lists of the admin (contract 8.20). */
  adminRead?: true;
  /** The token that has issued it (contract 8.16); absent: the admin has. */
  parent?: Id;
  createdAt: Time;
  expiresAt: Time;
  /** Whether the token is for service bindings (contract 18.5). */
  binding?: true;
  /** Whether it is a person, whose email is the name. */
  person?: true;
  /** The terminal that has got the token by a login (contract 28.2). */
  login?: {
    /** Its address; empty where the platform gives none. */
    address: string;
    /** What the program says of itself: its `User-Agent`. */
    program: string;
  };
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  /** When the token was revoked or expired; absent while it is in use. */
  endedAt?: Time;
}

/** A token whose stored record cannot be decrypted (contract 13.18). */
export interface BrokenToken {
  /** The id, as the row has it. */
  id: string;
  broken: "integrity" | "misconfigured";
  createdAt: Time;
  expiresAt: Time;
  /** When the token was revoked or expired; absent while it is in use. */
  endedAt?: Time;
}

/** A token to issue (contract 13.14). */
export interface NewToken {
  /** The name. At most 1024 bytes of UTF-8. */
  name: string;
  /** The permission in each vault, by the vault's id in either form. Each vault once. */
  vaults?: Record<string, Permission | ItemScope> | null;
  /** `uuid` by default. */
  dialect?: Dialect | null;
  /** Seconds until the token expires; by default 7776000. */
  expiresIn?: number | null;
  /** Whether the token is for service bindings, by default no; then every permission is `r` (contract 18.5). */
  binding?: boolean | null;
  /** Seconds by which the reads of the token may be old, and so its revocation (contract 8.12). Not with `binding`. */
  stale?: number | null;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). At most 1024 bytes of UTF-8. */
  managedBy?: string | null;
  /** Whether the token only reads backups (contract 8.19); by default no. Then it has none of the others but `name`, `expiresIn` and `managedBy`. */
  backupsOnly?: boolean | null;
  /** Whether the token only reads the lists of the admin (contract 8.20); by default no. Then it has none of the others but `name`, `expiresIn` and `managedBy`. */
  adminRead?: boolean | null;
  /** Whether the token may issue others (contract 8.16); by default no. Not with `binding`. */
  delegate?: boolean | null;
}

/** A token that a token issues (contract 8.16). */
export interface NewChildToken {
  /** The name. At most 1024 bytes of UTF-8. */
  name: string;
  /** The permission in each vault, by the vault's id in either form. The token of the request has it too. */
  vaults: Record<string, Permission | ItemScope>;
  /** By default that of the token of the request. */
  dialect?: Dialect | null;
  /** Seconds until the token expires. By default 90 days, and at most what the token of the request has left. */
  expiresIn?: number | null;
  /** Seconds by which the reads of the token may be old (contract 8.12): at most those of the token of the request. */
  stale?: number | null;
  /** Whether the token may issue others; by default no. */
  delegate?: boolean | null;
  /** Only the admin issues tokens of service bindings. */
  binding?: false | null;
}

/** A person (contract 25.1). */
export interface Person {
  id: Uuid;
  /** With the letters A to Z in lower case. */
  email: string;
  /** The permissions by vault id. */
  vaults: Record<string, Permission>;
  /** Whether the person is an administrator (contract 25.11). */
  admin?: true;
  /** The rule by which the person has signed in; absent for a person who was added (contract 25.13). */
  rule?: Uuid;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  createdAt: Time;
  /** When the vaults were changed last; absent before. */
  updatedAt?: Time;
}

/** A person whose stored record cannot be decrypted (contract 25.1). */
export interface BrokenPerson {
  /** The id, as the row has it. */
  id: string;
  broken: "integrity" | "misconfigured";
  createdAt: Time;
}

/** A person to add (contract 25.2). */
export interface NewPerson {
  /** The email address that the identity provider confirms: at most 254 characters, one `@`, no white space and no control characters. The letters A to Z are compared without regard to case. */
  email: string;
  /** The permission in each vault, by the vault's id in either form. Each vault once. */
  vaults: Record<string, Permission>;
  /** Whether the person is an administrator; by default no. Only ADMIN_TOKEN makes one (contract 25.11). */
  admin?: boolean | null;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). At most 1024 bytes of UTF-8. */
  managedBy?: string | null;
}

/** A change of a person (contract 25.4). */
export interface PersonChange {
  /** The permissions that replace those before. */
  vaults: Record<string, Permission>;
  /** Whether the person is an administrator. Absent: as before. Only ADMIN_TOKEN changes it (contract 25.11). */
  admin?: boolean | null;
}

/** An issuer of workload tokens (contract 27.1). */
export interface Issuer {
  id: Uuid;
  name: string;
  /** Its URL, as its tokens have it in `iss`. */
  issuer: string;
  /** Which claims its rules need. */
  preset: "github" | "gitlab" | "buildkite" | "kubernetes" | "generic";
  /** Whether each of its tokens is exchanged once. */
  once: boolean;
  /** Its public keys, as a JWK set (RFC 7517 section 5); absent: they are fetched. */
  jwks?: {
    /** JWKs (RFC 7517 section 4). */
    keys: Array<Record<string, unknown>>;
  };
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  createdAt: Time;
}

/** Which workload tokens are exchanged, or who signs in, and for what (contract 27.3, 25.13). */
export interface Rule {
  id: Uuid;
  name: string;
  issuer: Uuid;
  /** The values of the claims, by their names or JSON pointers (RFC 6901). */
  claims: Record<string, string | number | boolean>;
  /** Whether it is for every repository of the owner. */
  anyRepository?: boolean;
  /** Whether `sub` may be the only claim. */
  allowSubject?: boolean;
  /** The permissions by vault id. */
  vaults: Record<string, Permission | ItemScope>;
  /** Seconds of a token that is issued by it, or of a session. */
  lifetime: number;
  dialect: Dialect;
  /** Whether it is for people who sign in (contract 25.13). */
  people?: true;
  /** Whether these people are administrators (contract 25.11). */
  admin?: true;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  createdAt: Time;
}

/** A workload token that was presented (contract 27.5). */
export interface PastExchange {
  at: Time;
  /** The URL of its issuer. */
  issuer: string;
  /** Whether the rule matches it. */
  matches: boolean;
  /** The claims of the rule that do not match. */
  failed: string[];
}

/** The answer to an exchange (RFC 8693 section 2.2.1). */
export interface ExchangedToken {
  /** What a client sends as `Authorization: Bearer …`. */
  access_token: string;
  /** The type that was asked for. */
  issued_token_type: "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:access_token";
  token_type: "Bearer";
  /** Seconds until it expires. */
  expires_in: number;
}

/** A request to exchange a token (RFC 8693 section 2.1). Other parameters are ignored. */
export interface ExchangeForm {
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange";
  /** The token of the workload: a JWT. */
  subject_token: string;
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token";
  /** The rule that has to match; absent: exactly one has to. */
  rule?: IdInput;
  requested_token_type?: "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:access_token";
}

/** An issuer to add (contract 27.1). */
export interface NewIssuer {
  /** The name. At most 1024 bytes of UTF-8. */
  name: string;
  /** Its URL, exactly as its tokens have it in `iss`: https. */
  issuer: string;
  /** `generic` by default. */
  preset?: "github" | "gitlab" | "buildkite" | "kubernetes" | "generic" | null;
  /** Its public keys. Absent: the service fetches them (OpenID Connect Discovery 1.0). */
  jwks?: {
    /** JWKs (RFC 7517 section 4). */
    keys: Array<Record<string, unknown>>;
  } | null;
  /** Whether each of its tokens is exchanged once. By default yes, and no for `kubernetes` and `gitlab`. */
  once?: boolean | null;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). At most 1024 bytes of UTF-8. */
  managedBy?: string | null;
}

/** A rule to add or to test (contract 27.3, 27.5). */
export interface NewRule {
  /** The name of its tokens; by default that of the issuer. At most 1024 bytes of UTF-8. */
  name?: string | null;
  /** The id of the issuer. */
  issuer: IdInput;
  /** The values that claims need, by their names or JSON pointers (RFC 6901): strings, integers or booleans. */
  claims: Record<string, string | number | boolean>;
  /** Whether it is for every repository of the owner (preset `github`); by default no. */
  anyRepository?: boolean | null;
  /** Whether `sub` may be the only claim (preset `generic`); by default no. */
  allowSubject?: boolean | null;
  /** What its tokens may do, as in NewToken. */
  vaults: Record<string, Permission | ItemScope>;
  /** Seconds of its tokens; by default 900. With `people`: of a session, by default 3600. */
  lifetime?: number | null;
  /** `uuid` by default. */
  dialect?: Dialect | null;
  /** Whether it is for people who sign in, and not for workloads; by default no (contract 25.13). */
  people?: boolean | null;
  /** Only with `people`: whether they are administrators; by default no. Only ADMIN_TOKEN makes such a rule (contract 25.11). */
  admin?: boolean | null;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). At most 1024 bytes of UTF-8. */
  managedBy?: string | null;
}

/** A session of the console (contract 24.4). */
export interface Session {
  expiresAt: Time;
  /** Whether it opens the routes of the admin. */
  admin: boolean;
  /** The token that it acts as, or the person; absent without one. */
  token?: Token;
  /** Who has signed in (contract 25.6, 25.12); absent for a token. */
  person?: {
    id: Uuid;
    email: string;
  };
  /** What the operator has set (contract 24.4). */
  settings: {
    /** How long a deleted Item can be restored; 0: not at all. It may be a fraction. */
    deletedRetentionDays: number;
    /** How many earlier versions an Item keeps. */
    versionsKept: number;
    /** Whether people sign in: by an identity provider, or with Cloudflare Access. */
    people: boolean;
  };
}

/** What signs in: one of code and token; with nothing, Cloudflare Access does (contract 24.3, 25.6, 25.12). */
export interface SignIn {
  /** A one-time code; with `state` the code of the identity provider. */
  code?: string | null;
  /** As the identity provider has sent it back with `code`. */
  state?: string | null;
  /** The issuer that has answered, if the identity provider names it (RFC 9207). */
  iss?: string | null;
  /** The text of a token, or ADMIN_TOKEN. */
  token?: string | null;
  /** Only alone: the vaults that the admin opens to the token of the session (contract 24.12). */
  vaults?: Record<string, Permission> | null;
}

/** Where a sign-in begins (contract 25.12). */
export interface SignInAddress {
  /** The address at the identity provider to which the browser goes. */
  url: string;
}

/** A one-time code (contract 24.9). */
export interface SignInCode {
  /** The code. Only this answer contains it. */
  code: string;
  expiresAt: Time;
}

/** A login in a browser that a person confirms (contract 28.3). */
export interface NewAuthorization {
  /** The vaults of the token, with what it may do there. The person has each of these permissions. By default all of the person. */
  vaults?: Record<string, Permission> | null;
  /** Seconds until the token expires; by default 43200. */
  expiresIn?: number | null;
  /** Whether the token is for the admin routes (contract 8.18); by default no. The person is an administrator, and it lives for an hour at most. */
  admin?: boolean | null;
  /** Where the code goes: an IP literal of this machine with a port (RFC 8252 section 7.3). */
  redirect_uri: string;
  /** The SHA-256 of the verifier, in base64url (RFC 7636 section 4.2). */
  code_challenge: string;
}

/** The code of a login (contract 28.3, 28.5). */
export interface LoginCode {
  /** The id of the token that the code gives. */
  id: Id;
  /** The code. Only this answer contains it. */
  code: string;
  expiresAt: Time;
}

/** A login code that a person makes (contract 28.5). */
export interface NewLoginCode {
  /** The vaults of the token, with what it may do there. The person has each of these permissions. */
  vaults: Record<string, Permission>;
  /** Seconds until the token expires; by default 3600. */
  expiresIn?: number | null;
}

/** What redeems a login (contract 28.4, 28.6). */
export interface LoginRequest {
  /** The code. */
  code: string;
  /** Of a login in a browser: the text whose SHA-256 was the challenge (RFC 7636 section 4.1). A code that was pasted has none. */
  code_verifier?: string | null;
  /** Where the code was sent. When it is there, it has to be the same. */
  redirect_uri?: string | null;
}

/** Who sent the request, and from where. */
export interface Actor {
  /** A token's id, or what has none. */
  id: Id | "admin" | "service";
  /** The id of the token; absent for the admin and the service. */
  jti?: Uuid;
  userAgent: string;
  requestIp: string;
  /** The root key that sealed the two texts before was removed, so they are empty (contract 20.6); else absent. */
  originUnknown?: true;
}

/** Who wrote in a vault (contract 24.13). */
export interface ActorName {
  /** The id of a token, person or rule, as `lastEditedBy` and `actor` have it. */
  id: Id;
  /** The name; of a person the part of the email before the `@`. */
  name: string;
}

/** What the request was about (contract 13.6, 16.12). */
export interface ActivityResource {
  /** What it is. */
  type: "ITEM" | "VAULT";
  vault?: VaultReference;
  item?: ItemReference;
  /** The Items that one request has read, where they are several. */
  items?: ItemReference[];
  /** The version that was read or made. */
  itemVersion?: number;
}

/** An entry of the activity log (contract 13.5). */
export interface ActivityEntry {
  /** The `Request-Id` of the answer; of a write the id of the operation. */
  requestId: Uuid;
  timestamp: Time;
  /** What was done (contract 13.6). */
  action: "READ" | "CREATE" | "UPDATE" | "DELETE";
  /** DENY: the request was refused (contract 13.8). */
  result: "SUCCESS" | "DENY";
  actor: Actor;
  resource: ActivityResource;
}

/** An entry of a log whose stored record cannot be decrypted (contract 13.27). */
export interface BrokenActivityEntry {
  /** The id, as the row has it. */
  requestId: string;
  timestamp?: Time;
  broken: "integrity";
  /** Only in an export. */
  log?: string;
}

/** What a request of the admin was about (contract 13.22). The id is absent where the request names and makes none. */
export interface AdminActivityResource {
  /** What it is. */
  type: "VAULT" | "TOKEN" | "WEBHOOK" | "KEY" | "BACKUP" | "SESSION" | "PERSON" | "ISSUER" | "RULE" | "EXCHANGE" | "JOB";
  /** Its id. */
  vault?: {
    id: Uuid;
  };
  /** Its id. */
  token?: {
    id: Uuid;
  };
  /** Its id. */
  webhook?: {
    id: Uuid;
  };
  /** Its id. */
  key?: {
    id: Uuid;
  };
  /** Its id. */
  backup?: {
    id: Uuid;
  };
  /** Its id. */
  session?: {
    id: Uuid;
  };
  /** Its id. */
  person?: {
    id: Uuid;
  };
  /** Its id. */
  issuer?: {
    id: Uuid;
  };
  /** Its id. */
  rule?: {
    id: Uuid;
  };
  /** Its id. */
  exchange?: {
    id: Uuid;
  };
  /** Its id. */
  job?: {
    id: Uuid;
  };
  /** Why an exchange was refused (contract 27.6). */
  reason?: string;
  /** The vaults that a session was given (contract 24.12). */
  vaults?: Array<{
    id: Uuid;
  }>;
}

/** An entry of the log of the admin (contract 13.21). */
export interface AdminActivityEntry {
  /** The `Request-Id` of the answer; of a write the id of the operation. */
  requestId: Uuid;
  timestamp: Time;
  /** What was done (contract 13.6). */
  action: "READ" | "CREATE" | "UPDATE" | "DELETE";
  /** DENY: the request was refused (contract 13.8). */
  result: "SUCCESS" | "DENY";
  actor: Actor;
  resource: AdminActivityResource;
}

/** An entry of an export, as its log shows it, and which log that is (contract 23.2). */
export interface ExportedEntry {
  /** The `Request-Id` of the answer; of a write the id of the operation. */
  requestId: Uuid;
  timestamp: Time;
  /** What was done (contract 13.6). */
  action: "READ" | "CREATE" | "UPDATE" | "DELETE";
  /** DENY: the request was refused (contract 13.8). */
  result: "SUCCESS" | "DENY";
  actor: Actor;
  /** What the request was about. */
  resource: ActivityResource | AdminActivityResource;
  /** The id of a vault or token, or `admin`. */
  log: Uuid | "admin";
}

/** A write that took effect in a vault (contract 15.2). */
export interface Event {
  /** The number of the write. Those of a vault follow each other without a gap (contract 15.1). */
  sequence: number;
  type: EventType;
  /** The Item; absent for an event of the vault itself. */
  item?: Id;
  /** The version of the Item after the write, where it has one. */
  version?: number;
  /** A token's id, or what has none. */
  actor: Id | "admin" | "service";
  at: Time;
}

/** Events of a vault, the oldest first (contract 15.3). */
export interface EventPage {
  events: Event[];
  /** The cursor after the last event: the `after` of the next request. Opaque. */
  last: string;
}

/** An event of one of several vaults (contract 15.9). */
export interface VaultEvent {
  vault: Id;
  /** The number of the write. Those of a vault follow each other without a gap (contract 15.1). */
  sequence: number;
  type: EventType;
  /** The Item; absent for an event of the vault itself. */
  item?: Id;
  /** The version of the Item after the write, where it has one. */
  version?: number;
  /** A token's id, or what has none. */
  actor: Id | "admin" | "service";
  at: Time;
}

/** The data of `vault.deleted` and `reset` in a stream (contract 15.8). */
export interface VaultNotice {
  vault: Id;
}

/** A root key, without key material (contract 20.2). */
export interface RootKey {
  id: string;
  /** How the service uses it (contract 20.1). */
  state: "active" | "staged" | "retired" | "missing" | "removed";
  /** Names the key: the first 8 bytes of the SHA-256 of its public key. Absent when it is not known. */
  fingerprint?: string;
  /** The Ed25519 public key that verifies its tokens, in base64. Absent when `ROOT_KEYS` has no part of the key. */
  publicKey?: string;
  /** Whether tokens that it signed are accepted. */
  verifies: boolean;
  /** How many vaults are sealed under it. */
  vaults: number;
  /** How many tokens are sealed under it. */
  tokens: number;
  /** How many tokens that have ended are sealed under it. */
  endedTokens: number;
  /** Whether the newest backup needs it. */
  backup: boolean;
  /** Whether nothing needs it, so that `ROOT_KEYS` may lose it. */
  removable: boolean;
}

/** A job to start (contract 26.2). A `rewrap` has no attributes besides `kind`. */
export interface NewJob {
  /** What the job does. */
  kind: "rewrap" | "verify" | "backup" | "restore";
  /** Only this vault; absent: the whole deployment. */
  vault?: Uuid | null;
  /** Of a `backup`: every part is written, and every content looked for (contract 21.4). */
  full?: boolean | null;
  /** Of a `restore`: it tells what it would do, and changes nothing. */
  dryRun?: boolean | null;
  /** Of a `verify`: contents of Files are only looked for, and not read. */
  quick?: boolean | null;
  /** The backups are checked, and not what the service serves (contract 22.6). */
  backup?: boolean | null;
  /** Only this Item of `vault` is restored (contract 21.28). */
  item?: Uuid | null;
  /** The snapshot to restore; by default the newest (contract 21.20). */
  snapshot?: number | null;
  /** A `vault` or Item that is newer than the snapshot may be replaced (contract 21.23). */
  overwrite?: boolean | null;
  /** What can be repaired is repaired (contract 22.5). */
  repair?: boolean | null;
  /** The repair takes rows that are missing out of the counts of `vault`, or without it of what belongs to no vault (contract 22.5). */
  acceptLoss?: boolean | null;
}

/** A job (contract 26.1). */
export interface Job {
  id: Uuid;
  /** What the job does. */
  kind: "rewrap" | "verify" | "backup" | "restore" | "expire" | "purge";
  /** Of a `restore` that only tells what it would do; otherwise absent. */
  dryRun?: true;
  /** Whether it has begun, and how it ended. */
  state: "waiting" | "running" | "done" | "failed" | "stopped";
  /** The progress, in units of the kind. */
  progress: {
    /** What is done. */
    done: number;
    /** What is to be done, as far as it is known. */
    total: number;
  };
  /** What the kind tells besides; absent before it is known. */
  result?: {
    /** How much a `verify` has checked. */
    checked?: {
      /** Rows of the database or of a backup. */
      rows: number;
      /** Items. */
      items: number;
      /** Contents of Files. */
      contents: number;
      /** Sealed bytes. */
      bytes: number;
    };
    /** What a `backup` has made (contract 21.1). */
    backup?: {
      /** The number of the snapshot of `vault`, or of the registry; absent before it is written. */
      snapshot?: number;
      /** The vaults that got a snapshot. */
      made: number;
      /** The vaults that are as their newest snapshot has them. */
      unchanged: number;
      /** The vaults that were left out, because their backups failed. */
      behind: number;
      /** The rows of the snapshots. */
      rows: number;
      /** The bytes of the snapshots. */
      bytes: number;
      /** The contents of Files that were looked for. */
      contents: number;
    };
    /** What a `restore` has restored, or with `dryRun` would restore (contract 21.20). */
    restored?: {
      /** The number of the snapshot: of `vault`, or of the registry. */
      snapshot?: number;
      /** When it was made. */
      takenAt?: Time;
      /** The deployment that it is of. */
      deployment?: string;
      /** Only without `vault`: newer snapshots that are not authentic, or have no vaults (contract 21.25). */
      skipped?: SkippedSnapshot[];
      /** Only with `vault`: what the database had of it, or of `item`, compared with the snapshot. */
      existing?: "none" | "deleted" | "older" | "newer";
      /** Only with `dryRun`, not of an Item: whether the database has room for the rows. */
      room?: boolean;
      /** The vaults that were restored. */
      vaults: number;
      /** Their Items; 1, when one Item was. */
      items: number;
      /** The existing vaults, which stay unchanged. */
      kept: number;
      /** The vaults that could not be restored: `findings` name them. */
      leftOut: number;
    };
  };
  /** The first 100 findings. */
  findings: Finding[];
  createdAt: string;
  /** Absent until it has ended. */
  endedAt?: string;
  /** Why it failed, or why its last step is tried again; otherwise absent. */
  reason?: ErrorKind;
  /** How often the step was begun that is tried again; otherwise absent. */
  tries?: number;
}

/** The references to resolve. */
export interface ResolveRequest {
  /** At most 100: `op://<vault>/<item>/[<section>/]<field>[?attribute=…]`, each at most 4096 bytes of UTF-8 (contract 16.2). */
  references: string[];
}

/** One entry for each reference, in their order. */
export interface ResolveAnswer {
  values: Array<ResolvedValue | RefusedReference>;
}

/** A reference that has a value. */
export interface ResolvedValue {
  /** The reference as the request wrote it. */
  reference: string;
  value: string;
  /** The value is a content that is not UTF-8 (contract 16.8). */
  encoding?: "base64";
}

/** A reference that has no value (contract 16.9). */
export interface RefusedReference {
  /** The reference as the request wrote it. */
  reference: string;
  /** The status of the refusal. */
  status: number;
  /** The part that is at fault. It repeats nothing of the reference, except ids in a 413. */
  message: string;
}

/** A receiver of the events of a vault (contract 17.1). */
export interface Webhook {
  /** A UUID; together with `broken` as the row has it. */
  id: string;
  /** As the URL standard writes it; absent together with `broken`. */
  url?: string;
  /** The stored record cannot be decrypted. */
  broken?: "integrity";
  /** `false` when the state is DISABLED. */
  enabled: boolean;
  /** PAUSED: attempts have failed for a day. DISABLED: by the admin or by a 410. */
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). */
  managedBy?: string;
  createdAt: Time;
  /** Absent before the first delivery. */
  lastDelivery?: Time;
  /** Why the last attempt failed; absent after a delivery. */
  lastError?: DeliveryError;
  /** Attempts that failed since the last delivery. */
  failures: number;
  /** Events that are not delivered yet. */
  pending: number;
  /** The key of the signatures; only in the answers that make it (contract 17.4, 17.5). */
  secret?: string;
}

/** Why an attempt failed (contract 17.8). */
export interface DeliveryError {
  /** The kind of the fault. */
  kind: "status" | "redirect" | "timeout" | "network" | "url" | "restored" | "integrity";
  /** The status of the receiver's answer; absent without one. */
  status?: number;
  at: Time;
}

/** How the receiver has answered a test (contract 17.12). */
export interface WebhookTest {
  /** The status of the receiver's answer; absent without one. */
  status?: number;
  /** The kind of the fault (contract 17.8); absent: the message was delivered. */
  error?: "status" | "redirect" | "timeout" | "network" | "url" | "restored" | "integrity";
}

/** An attempt to deliver a message (contract 17.13). */
export interface WebhookDelivery {
  /** When it began. */
  at: Time;
  /** How long it took. */
  milliseconds: number;
  /** The status of the receiver's answer; absent without one. */
  status?: number;
  /** The kind of the fault (contract 17.8); absent: the message was delivered. */
  error?: "status" | "redirect" | "timeout" | "network" | "url" | "restored" | "integrity";
  /** The events of the message: none in a `reset` and in a test. */
  events: number;
  /** The admin has asked for it; else absent. */
  test?: true;
}

/** A webhook to make (contract 17.4). */
export interface NewWebhook {
  /** An absolute URL that begins with `https://`, of a host with a full domain name (contract 17.3). */
  url: string;
  /** `false`: no event is delivered. */
  enabled?: boolean | null;
  /** The name of the file of `item-vault apply` that makes it; absent: something else does (contract 13.29). At most 1024 bytes of UTF-8. */
  managedBy?: string | null;
}

/** What changes of a webhook (contract 17.5). */
export interface WebhookChange {
  /** An absolute URL that begins with `https://`, of a host with a full domain name (contract 17.3). */
  url?: string | null;
  /** `false`: no event is delivered. */
  enabled?: boolean | null;
  /** Makes it active: from the event where it stopped, or without what was missed. */
  resume?: "cursor" | "latest" | null;
  /** Makes a new secret: `true`, or the seconds for which the previous one also signs. With `true` it signs for a day. */
  rotateSecret?: true | number | null;
}

/** A message about an event (contract 17.7). */
export interface WebhookEventMessage {
  type: EventType;
  timestamp: Time;
  /** The event. Ids are UUIDs. */
  data: {
    /** The vault. */
    vault: {
      id: Uuid;
    };
    /** The number of the write (contract 15.1). */
    sequence: number;
    /** A cursor for `after` of `GET /vaults/{vault}/events`. */
    cursor: string;
    /** The Item. */
    item?: {
      id: Uuid;
    };
    /** The version of the Item after the write, where it has one. */
    version?: number;
    /** The id of the token, `admin` or `service`. */
    actor: string;
  };
}

/** Events before this position are missing (contract 17.10). */
export interface WebhookResetMessage {
  type: "reset";
  timestamp: Time;
  /** The position. */
  data: {
    /** The vault. */
    vault: {
      id: Uuid;
    };
    /** The number of the write (contract 15.1). */
    sequence: number;
    /** A cursor for `after` of `GET /vaults/{vault}/events`. */
    cursor: string;
  };
}

/** A test (contract 17.12): nothing has happened. */
export interface WebhookTestMessage {
  type: "test";
  timestamp: Time;
  /** The vault of the webhook. */
  data: {
    /** The vault. */
    vault: {
      id: Uuid;
    };
  };
}

/** The body of a message (contract 17.7). New types and attributes may be added. */
export type WebhookMessage = WebhookEventMessage | WebhookResetMessage | WebhookTestMessage;

/** Something that is wrong (contract 22.2). It has no text of a user. */
export interface Finding {
  /** What is wrong. */
  kind: "schema_incomplete" | "root_key_wrong" | "root_key_missing" | "vault_keys_wrong" | "row_unreadable" | "token_changed" | "index_wrong" | "version_wrong" | "version_missing" | "item_missing" | "item_lost" | "vault_unknown" | "counter_wrong" | "sequence_wrong" | "content_missing" | "content_size_wrong" | "content_damaged" | "content_orphaned" | "manifest_wrong" | "key_removed" | "chain_broken" | "part_wrong" | "vault_skipped";
  /** The id of the vault; of a log that is not of a vault, the id of the log. */
  vault?: string;
  /** The id of the Item. */
  item?: string;
  /** The id of the File. */
  file?: string;
  /** The version of the Item. */
  version?: number;
  /** The id of another record, for example of a token. */
  id?: string;
  /** The table of the row. */
  table?: string;
  /** The number of the snapshot, in a backup. */
  snapshot?: number;
  /** The fault, in words and numbers. */
  detail: string;
  /** Whether `repair` repairs it. */
  repairable: boolean;
  /** Only of a job with `repair`: whether it is repaired. */
  repaired?: boolean;
}

/** A snapshot of a vault or of the registry (contract 21.8). */
export interface Snapshot {
  /** The number of the snapshot. */
  number: number;
  createdAt?: Time;
  /** Rows of its parts. */
  rows?: number;
  /** Bytes of its parts, without the contents of Files. */
  bytes?: number;
  /** Only of the registry: the vaults that belong to it. */
  vaults?: number;
  missing?: string[];
  /** Why the manifest cannot be read: it is not authentic, or a newer release wrote it. */
  broken?: "integrity" | "backup_too_new";
}

/** A page of the vaults of the backups (contract 21.15). */
export interface BackedUpVaults {
  vaults: Array<{
    id: Uuid;
    /** Its name then. */
    name?: string;
    /** The number of that snapshot. */
    snapshot?: number;
    createdAt?: Time;
    /** Its Items then. */
    items?: number;
    /** Snapshots that cannot be decrypted, the newest first. */
    skipped: SkippedSnapshot[];
  }>;
  /** `after` of the next page; absent on the last one. */
  next?: Uuid;
}

/** A page of the objects of all backups (contract 21.9). */
export interface BackupObjects {
  objects: Array<{
    /** Also its path in a folder. */
    key: string;
    /** Bytes. */
    size: number;
  }>;
  /** `after` of the next page; absent on the last one. */
  next?: string;
}

/** A newer snapshot that is not taken. */
export interface SkippedSnapshot {
  /** The number of the snapshot. */
  snapshot: number;
  /** In words. */
  reason: string;
}

/** Whether an object was stored. */
export interface StoredObject {
  /** `false`: the bucket had it already. */
  stored: boolean;
}

/** The state of what the service depends on. */
export interface Health {
  name: string;
  /** The release of the service. */
  version: string;
  dependencies: Dependency[];
}

/** The state of what the service depends on. */
export interface AdminHealth {
  name: string;
  /** The release of the service. */
  version: string;
  dependencies: AdminDependency[];
}

/** The state of a dependency. More may be added. */
export interface Dependency {
  service: string;
  /** ERROR: requests that need it fail. */
  status: "ACTIVE" | "WARNING" | "ERROR";
  /** What works or what is wrong. It contains no secret. */
  message: string;
}

/** The state of a dependency, with its figures. */
export interface AdminDependency {
  service: string;
  /** ERROR: requests that need it fail. */
  status: "ACTIVE" | "WARNING" | "ERROR";
  /** What works or what is wrong. It contains no secret. */
  message: string;
  /** Bytes of the database; only of `capacity` (contract 13.3). */
  used?: number;
  /** Bytes that the database may hold; only of `capacity`. */
  limit?: number;
  /** How many tokens or root keys the warning is about; only of `tokens` and `keys`. */
  count?: number;
  /** When the last backup of everything was finished; only of `backups`, and absent without one. */
  at?: Time;
}

/** An id in the form of the token's dialect: a canonical UUID, or the 26 characters of unpadded lower-case base32 of the same 128 bits (contract 3.2, 3.5). */
export type Id = string;

/** A canonical UUID. Admin routes and the log write it in both dialects (contract 3.6). */
export type Uuid = string;

/** An id in either form; a UUID in any case (contract 3.2). Another text of 26 characters names nothing (contract 3.3). */
export type IdInput = string;

/** A time in UTC (RFC 3339, with `Z`). */
export type Time = string;

/** The category of an Item (contract 2.6). Requests may write it in any case (contract 2.9). */
export type Category =
  | "LOGIN"
  | "PASSWORD"
  | "API_CREDENTIAL"
  | "SERVER"
  | "DATABASE"
  | "CREDIT_CARD"
  | "MEMBERSHIP"
  | "PASSPORT"
  | "SOFTWARE_LICENSE"
  | "OUTDOOR_LICENSE"
  | "SECURE_NOTE"
  | "WIRELESS_ROUTER"
  | "BANK_ACCOUNT"
  | "DRIVER_LICENSE"
  | "IDENTITY"
  | "REWARD_PROGRAM"
  | "DOCUMENT"
  | "EMAIL_ACCOUNT"
  | "SOCIAL_SECURITY_NUMBER"
  | "MEDICAL_RECORD"
  | "SSH_KEY"
  | "CUSTOM";

/** The type of a field (contract 2.7). */
export type FieldType =
  | "STRING"
  | "EMAIL"
  | "CONCEALED"
  | "URL"
  | "OTP"
  | "DATE"
  | "MONTH_YEAR"
  | "MENU"
  | "SSHKEY"
  | "ADDRESS"
  | "PHONE"
  | "GENDER"
  | "REFERENCE"
  | "FILE"
  | "CREDIT_CARD_NUMBER"
  | "CREDIT_CARD_TYPE";

/** The purpose of a field that has one (contract 2.8). */
export type Purpose = "USERNAME" | "PASSWORD" | "NOTES";

/** A set of characters of generated values (contract 7.3). */
export type CharacterSet = "LETTERS" | "DIGITS" | "SYMBOLS";

/** What a token may do in a vault: `l` lists Items, `r` reads them too, `w` writes, `d` destroys versions and deleted Items (contract 8.4). */
export type Permission = "l" | "r" | "w" | "d" | "lw" | "ld" | "rw" | "rd" | "wd" | "lwd" | "rwd";

/** The form in which answers to a token write ids and dates (contract 3.5). */
export type Dialect = "uuid" | "connect";

/** What a write did (contract 15.2). More types may be added. */
export type EventType =
  | "item.created"
  | "item.updated"
  | "item.deleted"
  | "item.restored"
  | "item.version_destroyed"
  | "item.destroyed"
  | "vault.created"
  | "vault.updated";

/** Every error, an unknown path, a 405 and a 500 included (contract 4.1). The kind is in the header `Item-Vault-Error`. */
export interface Error {
  /** The HTTP status. */
  status: number;
  /** What is wrong and where. It contains no value that a user typed (contract 4.4). */
  message: string;
}

/** The kind of an error, a closed list (contract 4.2, 4.3). A client decides by it. */
export type ErrorKind =
  | "invalid"
  | "vault_id"
  | "item_id"
  | "token_id"
  | "webhook_id"
  | "person_id"
  | "issuer_id"
  | "rule_id"
  | "job_id"
  | "category"
  | "missing_field"
  | "filter"
  | "bookmark"
  | "unauthorized"
  | "sign_in_needed"
  | "out_of_scope"
  | "not_invited"
  | "account_refused"
  | "cross_site"
  | "vault_not_found"
  | "item_not_found"
  | "file_not_found"
  | "version_not_found"
  | "token_not_found"
  | "webhook_not_found"
  | "issuer_not_found"
  | "rule_not_found"
  | "person_not_found"
  | "job_not_found"
  | "backup_not_found"
  | "route_not_found"
  | "reference_not_found"
  | "ambiguous"
  | "method_not_allowed"
  | "idempotency"
  | "signer_removed"
  | "cursor_gone"
  | "item_exists"
  | "issuer_exists"
  | "person_exists"
  | "keys_used_up"
  | "job_exists"
  | "not_restored"
  | "job_unstoppable"
  | "database_restored"
  | "backup_newer"
  | "overtaken"
  | "precondition"
  | "too_large_to_inline"
  | "body_too_large"
  | "range"
  | "encoding"
  | "backup_damaged"
  | "backup_too_new"
  | "rate"
  | "internal"
  | "integrity"
  | "busy"
  | "uncertain"
  | "unavailable"
  | "issuer_unavailable"
  | "version_skew"
  | "schema"
  | "database_full"
  | "quota"
  | "misconfigured";

/** Each operation, by its method and path. `body` and `answer` are `undefined` where there is none. */
export interface Operations {
  /** Read the token of the request */
  "GET /v1/token": {
    id: "getOwnToken";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Token;
  };
  /** List the tokens that the token of the request has issued */
  "GET /v1/tokens": {
    id: "listChildTokens";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Array<ListedToken | BrokenToken>;
  };
  /** Issue a token below that of the request */
  "POST /v1/tokens": {
    id: "createChildToken";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewChildToken;
    answer: IssuedToken;
  };
  /** Revoke a token below that of the request */
  "DELETE /v1/tokens/{token}": {
    id: "revokeChildToken";
    path: {
      /** The id of the token (contract 3.2). */
      token: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Resolve references */
  "POST /v1/resolve": {
    id: "resolveReferences";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: ResolveRequest;
    answer: ResolveAnswer;
  };
  /** List the vaults that the token reads */
  "GET /v1/vaults": {
    id: "listVaults";
    path: Record<string, never>;
    query: {
      /** One term; names without regard to case (contract 5.3). */
      filter?: string;
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Vault[];
  };
  /** Read a vault */
  "GET /v1/vaults/{vault}": {
    id: "getVault";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Vault;
  };
  /** List who wrote in a vault */
  "GET /v1/vaults/{vault}/actors": {
    id: "listActors";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: {
      /** Only those who wrote this Item (contract 24.13). */
      item?: IdInput;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: ActorName[];
  };
  /** Read the activity log */
  "GET /v1/activity": {
    id: "listActivity";
    path: Record<string, never>;
    query: {
      /** The most entries of a page (contract 13.9). The default is 50. */
      limit?: number;
      /** The page has the entries before the one with this `requestId`. Not with `offset` (contract 13.19). */
      before?: IdInput | string;
      /** How many entries to skip (contract 13.9). The default is 0. */
      offset?: number;
      /** Only entries about this vault. Not with `offset` (contract 13.25). */
      vault?: IdInput;
      /** Only entries of this token, of the admin, or of the service itself. Not with `offset` (contract 13.25). */
      actor?: IdInput | "admin" | "service";
      /** Only entries about this Item. Not with `offset` (contract 13.25). */
      item?: IdInput;
      /** Only entries with this `action`. Not with `offset` (contract 13.25). */
      action?: "READ" | "CREATE" | "UPDATE" | "DELETE";
      /** Only entries with this `result`. Not with `offset` (contract 13.25). */
      result?: "SUCCESS" | "DENY";
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Array<ActivityEntry | BrokenActivityEntry>;
  };
  /** List the Items of a vault */
  "GET /v1/vaults/{vault}/items": {
    id: "listItems";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: {
      /** Terms joined by `and`, which all have to hold (contract 5.1, 5.2), or up to 100 ids joined by `or` (contract 5.11). A value has at most 4 KiB. */
      filter?: string;
      /** Whether the list has the archived Items too (contract 14.15). The default is false. */
      archived?: boolean;
      /** `username` adds the user names (contract 11.8). */
      include?: "username";
      /** Asks for a page of at most so many entries (contract 11.3). */
      limit?: number;
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: {
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Array<ItemSummary | BrokenItem>;
  };
  /** Create an Item */
  "POST /v1/vaults/{vault}/items": {
    id: "createItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** The id of the new Item. A 409 when the vault has an Item or a deleted Item with it (contract 10.23 to 10.26). */
      "Item-Id"?: IdInput;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewItem;
    answer: Item;
  };
  /** Read an Item */
  "GET /v1/vaults/{vault}/items/{item}": {
    id: "getItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** Replace an Item */
  "PUT /v1/vaults/{vault}/items/{item}": {
    id: "replaceItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: ItemReplacement;
    answer: Item;
  };
  /** Delete an Item */
  "DELETE /v1/vaults/{vault}/items/{item}": {
    id: "deleteItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Change an Item */
  "PATCH /v1/vaults/{vault}/items/{item}": {
    id: "patchItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: Patch;
    answer: Item;
  };
  /** Archive an Item */
  "POST /v1/vaults/{vault}/items/{item}/archive": {
    id: "archiveItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** Unarchive an Item */
  "POST /v1/vaults/{vault}/items/{item}/unarchive": {
    id: "unarchiveItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** List the Files of an Item */
  "GET /v1/vaults/{vault}/items/{item}/files": {
    id: "listFiles";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: {
      /** Adds the contents, up to the inline limit (contract 9.8, 9.9). The default is false. */
      inline_files?: boolean;
      /** Another name of `inline_files`, which counts when both are there (contract 9.8). */
      inline_content?: boolean;
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: File[];
  };
  /** Upload a File */
  "POST /v1/vaults/{vault}/items/{item}/files": {
    id: "uploadFile";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: {
      /** The name of the File, at most 1024 bytes of UTF-8 (contract 9.3). */
      name?: string;
      /** The id of a section for the File, at most 255 bytes of UTF-8 (contract 9.4). */
      section?: string;
    };
    headers: {
      /** The name of the File as `filename`, if `name` is absent (contract 9.3). */
      "Content-Disposition"?: string;
      /** `sha-256=:…:` (RFC 9530), which is compared with the content (contract 9.5). */
      "Content-Digest"?: string;
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: Bytes | undefined;
    answer: File;
  };
  /** Read a File */
  "GET /v1/vaults/{vault}/items/{item}/files/{file}": {
    id: "getFile";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The id of the File. A text that is no id names nothing (contract 3.4). */
      file: string;
    };
    query: {
      /** Adds the contents, up to the inline limit (contract 9.8, 9.9). The default is false. */
      inline_files?: boolean;
      /** Another name of `inline_files`, which counts when both are there (contract 9.8). */
      inline_content?: boolean;
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: File;
  };
  /** Delete a File */
  "DELETE /v1/vaults/{vault}/items/{item}/files/{file}": {
    id: "deleteFile";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The id of the File. A text that is no id names nothing (contract 3.4). */
      file: string;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Download a File */
  "GET /v1/vaults/{vault}/items/{item}/files/{file}/content": {
    id: "getFileContent";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The id of the File. A text that is no id names nothing (contract 3.4). */
      file: string;
    };
    query: {
      /** The version of the Item that the content is of; by default the current one (contract 14.5). */
      version?: number;
    };
    headers: {
      /** One range of bytes: then a 206 (contract 9.12). */
      Range?: string;
      /** An `ETag`; if it is not the current one, the answer is the whole content (contract 9.12). */
      "If-Range"?: string;
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Bytes;
  };
  /** Replace the content of a File */
  "PUT /v1/vaults/{vault}/items/{item}/files/{file}/content": {
    id: "replaceFileContent";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The id of the File. A text that is no id names nothing (contract 3.4). */
      file: string;
    };
    query: Record<string, never>;
    headers: {
      /** `sha-256=:…:` (RFC 9530), which is compared with the content (contract 9.5). */
      "Content-Digest"?: string;
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: Bytes | undefined;
    answer: File;
  };
  /** List the versions of an Item */
  "GET /v1/vaults/{vault}/items/{item}/versions": {
    id: "listVersions";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: {
      /** The most versions of a page (contract 11.9). The default is 100. */
      limit?: number;
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Array<Version | BrokenVersion>;
  };
  /** Read a version */
  "GET /v1/vaults/{vault}/items/{item}/versions/{version}": {
    id: "getVersion";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The number of a version (contract 14.4). */
      version: number;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** Destroy a version */
  "DELETE /v1/vaults/{vault}/items/{item}/versions/{version}": {
    id: "destroyVersion";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The number of a version (contract 14.4). */
      version: number;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Restore a version */
  "POST /v1/vaults/{vault}/items/{item}/versions/{version}/restore": {
    id: "restoreVersion";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The number of a version (contract 14.4). */
      version: number;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3). */
      "If-Match"?: string;
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** List the deleted Items */
  "GET /v1/vaults/{vault}/deleted-items": {
    id: "listDeletedItems";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: {
      /** The most deleted Items of a page (contract 11.9). The default is 1000. */
      limit?: number;
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: {
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Array<DeletedItemSummary | BrokenDeletedItem>;
  };
  /** Read a deleted Item */
  "GET /v1/vaults/{vault}/deleted-items/{item}": {
    id: "getDeletedItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: DeletedItem;
  };
  /** Destroy a deleted Item */
  "DELETE /v1/vaults/{vault}/deleted-items/{item}": {
    id: "destroyDeletedItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Restore a deleted Item */
  "POST /v1/vaults/{vault}/deleted-items/{item}/restore": {
    id: "restoreDeletedItem";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: Item;
  };
  /** Download a File of a deleted Item */
  "GET /v1/vaults/{vault}/deleted-items/{item}/files/{file}/content": {
    id: "getDeletedFileContent";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the Item (contract 3.2). */
      item: IdInput;
      /** The id of the File. A text that is no id names nothing (contract 3.4). */
      file: string;
    };
    query: Record<string, never>;
    headers: {
      /** One range of bytes: then a 206 (contract 9.12). */
      Range?: string;
      /** An `ETag`; if it is not the current one, the answer is the whole content (contract 9.12). */
      "If-Range"?: string;
      /** Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11). */
      "If-None-Match"?: string;
      /** Up to 8 values of this header in earlier answers: the answer shows no earlier state. Ignored without `stale` (contract 8.14). */
      "Item-Vault-Bookmark"?: string;
    };
    body: undefined;
    answer: Bytes;
  };
  /** Follow the writes to a vault */
  "GET /v1/vaults/{vault}/events": {
    id: "listEvents";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: {
      /** Where to begin: `0`, `latest`, or a cursor (contract 15.4). */
      after?: string;
      /** The most events of a page. A stream ignores it (contract 15.3). The default is 100. */
      limit?: number;
      /** Seconds that a request without events waits for one, at most 30 (contract 15.6). Of a stream: how long it lasts, at most 3600 seconds, which is its default (contract 15.8). The default of other requests is 0. */
      wait?: number;
    };
    headers: {
      /** Continues a stream after the event with this id (contract 15.7). */
      "Last-Event-ID"?: string;
    };
    body: undefined;
    answer: EventPage | Bytes;
  };
  /** Follow all vaults of the token */
  "GET /v1/events": {
    id: "streamAllEvents";
    path: Record<string, never>;
    query: {
      /** Where to begin: `0`, `latest`, or a cursor (contract 15.4). */
      after?: string;
      /** Seconds that the stream lasts (contract 15.8). With `Accept: text/event-stream` the default is 3600, else 0. */
      wait?: number;
    };
    headers: {
      /** Continues a stream after the event with this id (contract 15.7). */
      "Last-Event-ID"?: string;
    };
    body: undefined;
    answer: Bytes;
  };
  /** List all vaults */
  "GET /v1/admin/vaults": {
    id: "listAllVaults";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Array<AdminVault | BrokenVault>;
  };
  /** Create a vault */
  "POST /v1/admin/vaults": {
    id: "createVault";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewVault;
    answer: AdminVault;
  };
  /** Delete a vault */
  "DELETE /v1/admin/vaults/{vault}": {
    id: "deleteVault";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Change a vault */
  "PATCH /v1/admin/vaults/{vault}": {
    id: "updateVault";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: VaultChange;
    answer: AdminVault;
  };
  /** Give a vault a new data key */
  "POST /v1/admin/vaults/{vault}/keys": {
    id: "renewVaultKey";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: VaultKeyRenewal;
    answer: AdminVault;
  };
  /** List the tokens */
  "GET /v1/admin/tokens": {
    id: "listTokens";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Array<ListedToken | BrokenToken>;
  };
  /** Issue a token */
  "POST /v1/admin/tokens": {
    id: "createToken";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewToken;
    answer: IssuedToken;
  };
  /** Look up a token */
  "GET /v1/admin/tokens/{token}": {
    id: "getToken";
    path: {
      /** The id of the token (contract 3.2). */
      token: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: ListedToken | BrokenToken;
  };
  /** Revoke a token */
  "DELETE /v1/admin/tokens/{token}": {
    id: "revokeToken";
    path: {
      /** The id of the token (contract 3.2). */
      token: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Read what a token has done */
  "GET /v1/admin/tokens/{token}/activity": {
    id: "listTokenActivity";
    path: {
      /** The id of the token (contract 3.2). */
      token: IdInput;
    };
    query: {
      /** The most entries of a page (contract 13.9). The default is 50. */
      limit?: number;
      /** The page has the entries before the one with this `requestId` (contract 13.21). */
      before?: IdInput | string;
      /** Only entries about this vault. Not with `offset` (contract 13.25). */
      vault?: IdInput;
      /** Only entries about this Item. Not with `offset` (contract 13.25). */
      item?: IdInput;
      /** Only entries with this `action`. Not with `offset` (contract 13.25). */
      action?: "READ" | "CREATE" | "UPDATE" | "DELETE";
      /** Only entries with this `result`. Not with `offset` (contract 13.25). */
      result?: "SUCCESS" | "DENY";
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Array<ExportedEntry | BrokenActivityEntry>;
  };
  /** Read the log of the admin */
  "GET /v1/admin/activity": {
    id: "listAdminActivity";
    path: Record<string, never>;
    query: {
      /** The most entries of a page (contract 13.9). The default is 50. */
      limit?: number;
      /** The page has the entries before the one with this `requestId` (contract 13.21). */
      before?: IdInput | string;
      /** Only entries about this vault. Not with `offset` (contract 13.25). */
      vault?: IdInput;
      /** Only entries of this token, of the admin, or of the service itself. Not with `offset` (contract 13.25). */
      actor?: IdInput | "admin" | "service";
      /** Only entries with this `action`. Not with `offset` (contract 13.25). */
      action?: "READ" | "CREATE" | "UPDATE" | "DELETE";
      /** Only entries with this `result`. Not with `offset` (contract 13.25). */
      result?: "SUCCESS" | "DENY";
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Array<AdminActivityEntry | BrokenActivityEntry>;
  };
  /** Export all logs */
  "GET /v1/admin/activity/export": {
    id: "exportActivity";
    path: Record<string, never>;
    query: {
      /** Only the log of this vault, also of a deleted one (contract 23.3). */
      vault?: IdInput;
      /** Only entries from this time on (contract 23.3). */
      since?: string;
      /** Only entries before this time (contract 23.3). */
      until?: string;
      /** The most entries of a page (contract 13.9). The default is 50. */
      limit?: number;
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Array<ExportedEntry | BrokenActivityEntry>;
  };
  /** Check what the service depends on, with figures */
  "GET /v1/admin/health": {
    id: "getAdminHealth";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: AdminHealth;
  };
  /** List the root keys */
  "GET /v1/admin/keys": {
    id: "listKeys";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: RootKey[];
  };
  /** List the jobs */
  "GET /v1/admin/jobs": {
    id: "listJobs";
    path: Record<string, never>;
    query: {
      /** Asks for a page of at most so many entries (contract 11.3). */
      limit?: number;
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Job[];
  };
  /** Start a job */
  "POST /v1/admin/jobs": {
    id: "createJob";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewJob;
    answer: Job;
  };
  /** Get a job */
  "GET /v1/admin/jobs/{job}": {
    id: "getJob";
    path: {
      /** The id of the job (contract 3.2). */
      job: IdInput;
    };
    query: {
      /** Seconds for which the answer waits for the end of the job (contract 26.4). The default is 0. */
      wait?: number;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Job;
  };
  /** Stop a job */
  "DELETE /v1/admin/jobs/{job}": {
    id: "stopJob";
    path: {
      /** The id of the job (contract 3.2). */
      job: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Job;
  };
  /** List the findings of a job */
  "GET /v1/admin/jobs/{job}/findings": {
    id: "listJobFindings";
    path: {
      /** The id of the job (contract 3.2). */
      job: IdInput;
    };
    query: {
      /** Where the page begins: opaque, from the `Link` of the page before (contract 11.3). */
      cursor?: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Finding[];
  };
  /** List the people */
  "GET /v1/admin/people": {
    id: "listPeople";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Array<Person | BrokenPerson>;
  };
  /** Add a person */
  "POST /v1/admin/people": {
    id: "addPerson";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewPerson;
    answer: Person;
  };
  /** Read a person */
  "GET /v1/admin/people/{person}": {
    id: "getPerson";
    path: {
      /** The id of the person (contract 3.2). */
      person: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Person | BrokenPerson;
  };
  /** Remove a person */
  "DELETE /v1/admin/people/{person}": {
    id: "removePerson";
    path: {
      /** The id of the person (contract 3.2). */
      person: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Change the vaults of a person */
  "PATCH /v1/admin/people/{person}": {
    id: "changePerson";
    path: {
      /** The id of the person (contract 3.2). */
      person: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: PersonChange;
    answer: Person;
  };
  /** List the issuers of workload tokens */
  "GET /v1/admin/issuers": {
    id: "listIssuers";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Array<Issuer | BrokenPerson>;
  };
  /** Add an issuer of workload tokens */
  "POST /v1/admin/issuers": {
    id: "createIssuer";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewIssuer;
    answer: Issuer;
  };
  /** Read an issuer */
  "GET /v1/admin/issuers/{issuer}": {
    id: "getIssuer";
    path: {
      /** The id of the issuer (contract 3.2). */
      issuer: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Issuer | BrokenPerson;
  };
  /** Delete an issuer */
  "DELETE /v1/admin/issuers/{issuer}": {
    id: "deleteIssuer";
    path: {
      /** The id of the issuer (contract 3.2). */
      issuer: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** List the rules for workload tokens */
  "GET /v1/admin/rules": {
    id: "listRules";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Array<Rule | BrokenPerson>;
  };
  /** Add a rule for workload tokens */
  "POST /v1/admin/rules": {
    id: "createRule";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewRule;
    answer: Rule;
  };
  /** Test a rule */
  "POST /v1/admin/rules/test": {
    id: "testRule";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: NewRule;
    answer: PastExchange[];
  };
  /** Read a rule */
  "GET /v1/admin/rules/{rule}": {
    id: "getRule";
    path: {
      /** The id of the rule (contract 3.2). */
      rule: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Rule | BrokenPerson;
  };
  /** Delete a rule */
  "DELETE /v1/admin/rules/{rule}": {
    id: "deleteRule";
    path: {
      /** The id of the rule (contract 3.2). */
      rule: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Exchange a workload token */
  "POST /v1/token-exchange": {
    id: "exchangeToken";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Bytes;
    answer: ExchangedToken;
  };
  /** List the webhooks of a vault */
  "GET /v1/admin/vaults/{vault}/webhooks": {
    id: "listWebhooks";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Webhook[];
  };
  /** Make a webhook */
  "POST /v1/admin/vaults/{vault}/webhooks": {
    id: "createWebhook";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: NewWebhook;
    answer: Webhook;
  };
  /** Read a webhook */
  "GET /v1/admin/vaults/{vault}/webhooks/{webhook}": {
    id: "getWebhook";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the webhook (contract 3.2). */
      webhook: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Webhook;
  };
  /** Delete a webhook */
  "DELETE /v1/admin/vaults/{vault}/webhooks/{webhook}": {
    id: "deleteWebhook";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the webhook (contract 3.2). */
      webhook: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Change a webhook */
  "PATCH /v1/admin/vaults/{vault}/webhooks/{webhook}": {
    id: "updateWebhook";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the webhook (contract 3.2). */
      webhook: IdInput;
    };
    query: Record<string, never>;
    headers: {
      /** A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19). */
      "Idempotency-Key"?: string;
    };
    body: WebhookChange;
    answer: Webhook;
  };
  /** Send a test to a webhook */
  "POST /v1/admin/vaults/{vault}/webhooks/{webhook}/test": {
    id: "testWebhook";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the webhook (contract 3.2). */
      webhook: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: WebhookTest;
  };
  /** List the last deliveries to a webhook */
  "GET /v1/admin/vaults/{vault}/webhooks/{webhook}/deliveries": {
    id: "listDeliveries";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
      /** The id of the webhook (contract 3.2). */
      webhook: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: WebhookDelivery[];
  };
  /** List the backups */
  "GET /v1/admin/backups": {
    id: "listBackups";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Snapshot[];
  };
  /** List the vaults of the backups */
  "GET /v1/admin/backups/vaults": {
    id: "listBackedUpVaults";
    path: Record<string, never>;
    query: {
      /** The page has the vaults after this id (contract 21.15). */
      after?: IdInput;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: BackedUpVaults;
  };
  /** List the snapshots of a vault */
  "GET /v1/admin/backups/vaults/{vault}": {
    id: "listVaultBackups";
    path: {
      /** The id of the vault (contract 3.2). */
      vault: IdInput;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Snapshot[];
  };
  /** List the objects of all backups */
  "GET /v1/admin/backups/objects": {
    id: "listBackupObjects";
    path: Record<string, never>;
    query: {
      /** The page has the objects after this key (contract 21.9). */
      after?: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: BackupObjects;
  };
  /** Download an object of a backup */
  "GET /v1/admin/backups/object": {
    id: "getBackupObject";
    path: Record<string, never>;
    query: {
      /** The key of the object (contract 21.9). */
      key: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Bytes;
  };
  /** Bring an object of a backup back */
  "PUT /v1/admin/backups/object": {
    id: "putBackupObject";
    path: Record<string, never>;
    query: {
      /** The key of the object (contract 21.9). */
      key: string;
    };
    headers: Record<string, never>;
    body: Bytes;
    answer: StoredObject;
  };
  /** Read the session of the request */
  "GET /console/session": {
    id: "getSession";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Session;
  };
  /** Sign in */
  "POST /console/session": {
    id: "signIn";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: SignIn;
    answer: Session;
  };
  /** Sign out */
  "DELETE /console/session": {
    id: "signOut";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Begin a sign-in at the identity provider */
  "POST /console/sign-ins": {
    id: "beginSignIn";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: SignInAddress;
  };
  /** Make a one-time code */
  "POST /v1/sign-in-codes": {
    id: "createSignInCode";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: SignInCode;
  };
  /** Make a one-time code of the admin */
  "POST /v1/admin/sign-in-codes": {
    id: "createAdminSignInCode";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: SignInCode;
  };
  /** Confirm a login in a browser */
  "POST /console/authorizations": {
    id: "createAuthorization";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: NewAuthorization;
    answer: LoginCode;
  };
  /** Make a code that logs in a terminal */
  "POST /console/login-codes": {
    id: "createLoginCode";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: NewLoginCode;
    answer: LoginCode;
  };
  /** Get the token of a login */
  "POST /v1/login/token": {
    id: "redeemLogin";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: LoginRequest;
    answer: IssuedToken;
  };
  /** Check that the service runs */
  "GET /heartbeat": {
    id: "getHeartbeat";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Bytes;
  };
  /** Check what the service depends on */
  "GET /health": {
    id: "getHealth";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Health;
  };
  /** Read the metrics */
  "GET /metrics": {
    id: "getMetrics";
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    answer: Bytes;
  };
}
