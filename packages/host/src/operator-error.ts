/** The reason why the server cannot start, in words for the operator. Other errors at the start are defects, or errors of the system. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** Returns the error for data of a later release, whose format this release does not know. */
export const laterRelease = (): OperatorError =>
  new OperatorError(
    "The data was written by a later release of Item Vault. Start that release, or restore a backup into an empty directory.",
  );
