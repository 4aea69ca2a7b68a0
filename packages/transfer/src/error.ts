/**
 * Ends a transfer: the source cannot be read, or the password is wrong. `hint` is the next step for the user. Neither text contains a value.
 */
export class TransferError extends Error {
  override readonly name = "TransferError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Returns an error of a source: a sentence of its path and the fault, without a value. */
export const sourceFault = (path: string, fault: string): TransferError =>
  new TransferError(`${path} ${fault}`, "Nothing was imported.");
