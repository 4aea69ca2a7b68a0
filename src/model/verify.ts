/** The input of a verify job (contract 22.1). */
export interface VerifyInput {
  /** Only this vault; absent: the whole deployment. */
  readonly vault?: string | undefined;
  /** True if contents are only checked for existence, and not read. */
  readonly quick: boolean;
  readonly repair: boolean;
  /** True if the repair lowers counts to the number of rows: in the vault, or, without a vault, in the registry. */
  readonly acceptLoss: boolean;
  /** True if the job checks the backups instead of the live data. */
  readonly backup: boolean;
}

/** A request of `verify` to a vault's coordinator (contract 22). It is plain data, because it crosses Durable Object RPC. */
export type VerifyRequest =
  /** Asks for the keys among these that are recorded as pending: uploads in flight, and released contents. */
  | { readonly kind: "pending"; readonly keys: readonly string[] }
  /** Counts the rows of the vault again. With `acceptLoss`, missing Items are no longer counted. */
  | { readonly kind: "recount"; readonly acceptLoss: boolean };

/** Keys, of a request for `pending`; else nothing. */
export type VerifyAnswer = readonly string[];
