/** Why the server cannot start, in words for the operator. Other errors of a start are defects, or those of the system. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** The data was written by a later release, which may have changed what this one relies on. */
export const laterRelease = (): OperatorError =>
  new OperatorError(
    "The data was written by a later release of Item Vault. Start that release, or restore a backup into an empty directory.",
  );
