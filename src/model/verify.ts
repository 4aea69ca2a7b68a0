/** What a job of verify is asked for (contract 22.1). */
export interface VerifyInput {
  /** Only this vault; absent: the whole deployment. */
  readonly vault?: string | undefined;
  /** Whether it only checks that contents exist, and does not read them. */
  readonly quick: boolean;
  readonly repair: boolean;
  /** Whether the repair lowers counts to those of their rows: those of the vault, or without one those of what belongs to no vault. */
  readonly acceptLoss: boolean;
  /** Whether it checks the backups, and not what the service serves. */
  readonly backup: boolean;
}

/** What `verify` asks the coordinator of a vault (contract 22). Plain data, because it crosses Durable Object RPC. */
export type VerifyRequest =
  /** Which of these keys are recorded as pending: uploads that have begun, and released contents. */
  | { readonly kind: "pending"; readonly keys: readonly string[] }
  /** Records these contents as released. The key `<vault>/` stands for all contents of a deleted vault. */
  | { readonly kind: "release"; readonly keys: readonly string[] }
  /** Counts the rows of the vault again. In: whether Items that are missing are not counted any more. */
  | { readonly kind: "recount"; readonly acceptLoss: boolean };

/** Keys, of a request for `pending`; else nothing. */
export type VerifyAnswer = readonly string[];
