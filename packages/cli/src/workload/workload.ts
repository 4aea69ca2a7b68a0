import type { ItemVaultError } from "@item-vault/client";
import type { ConnectionOptions } from "../frame/connection.ts";
import type { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";

/** A workload: a job or a pod that its platform identifies by a signed token (JWT, RFC 7519). */

export interface Workload {
  readonly env: Io["env"];
  readonly options: ConnectionOptions;
  /** The `aud` of the token: the service that it is for. */
  readonly audience: string;
  /** A file with the token. When it is given, no other source is asked. */
  readonly tokenFile: string | undefined;
  /** The variable with the token, in place of ITEM_VAULT_ID_TOKEN. When it is named, no other source is asked. */
  readonly tokenVariable: string | undefined;
  /** Time limit for a silent platform, in milliseconds. */
  readonly timeout: number;
}

/** The types of RFC 8693 section 3 that the service accepts. */
export type SubjectTokenType = "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token";

/** A source of a workload's token. */
export interface Source {
  /** Returns true if the platform of the workload offers a token in this way. */
  readonly isOffered: (workload: Workload) => boolean | Promise<boolean>;
  /** Gets the token. Throws a CliError, or an ItemVaultError if another attempt may help. */
  readonly obtain: (workload: Workload, signal?: AbortSignal) => Promise<string>;
  /** Explains an ItemVaultError of `obtain` to the user. */
  readonly explain?: (error: ItemVaultError) => CliError | ItemVaultError;
  readonly type: SubjectTokenType;
}

/** The path of a pod's projected token (kubernetes.io/docs/tasks/configure-pod-container/configure-service-account). */
export const TOKEN_FILE = "/var/run/secrets/tokens/item-vault";

/** The longest token. With the rest of the form it fits into 32 KiB, the most that the service takes. */
const TOKEN_CHARACTERS_MAX = 24 * 1024;

/** Returns true if a text is a signed JWT in compact form (RFC 7515 section 3.1), and not too long. */
export const isJwt = (text: string): boolean => text.length <= TOKEN_CHARACTERS_MAX && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
