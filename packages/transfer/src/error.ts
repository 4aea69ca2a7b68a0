/** Ends a transfer: of a source that cannot be read, or a password that does not fit. `hint`: what to do next. Neither contains a value. */
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
