import type { ItemVaultError } from "@item-vault/client";
import type { ConnectionOptions } from "../frame/connection.ts";
import type { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";

/** A workload: a job or a pod whose platform gives it a signed token (JWT, RFC 7519) that says what it is. */

export interface Workload {
  readonly env: Io["env"];
  readonly options: ConnectionOptions;
  /** The `aud` of the token: the service that it is for. */
  readonly audience: string;
  /** A file with the token. When it is given, no other source is asked. */
  readonly tokenFile: string | undefined;
  /** The variable with the token, in place of ITEM_VAULT_ID_TOKEN. When it is named, no other source is asked. */
  readonly tokenVariable: string | undefined;
  /** How long the platform may be silent, in milliseconds. */
  readonly timeout: number;
}

/** The types of RFC 8693 section 3 that the service accepts. */
export type SubjectTokenType = "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token";

/** Where a workload gets its token. */
export interface Source {
  /** Whether the platform of the workload offers a token in this way. */
  readonly isOffered: (workload: Workload) => boolean | Promise<boolean>;
  /** Gets the token. Errors: throws a CliError, or an ItemVaultError where another attempt may help. */
  readonly obtain: (workload: Workload, signal?: AbortSignal) => Promise<string>;
  /** What an ItemVaultError of `obtain` is for the user. */
  readonly explain?: (error: ItemVaultError) => CliError | ItemVaultError;
  readonly type: SubjectTokenType;
}

/** The longest token. With the rest of the form it fits into 32 KiB, the most that the service takes. */
const TOKEN_CHARACTERS_MAX = 24 * 1024;

/** Whether a text is a signed JWT in the compact form (RFC 7515 section 3.1), and not too long. */
export const isJwt = (text: string): boolean => text.length <= TOKEN_CHARACTERS_MAX && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
