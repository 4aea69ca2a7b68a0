import { TransferError } from "@item-vault/transfer/error";
import { explain } from "../failures/explain.ts";

/**
 * Returns a failure in words: a fault of the file as the command line puts it, a failed request as the console does. It contains no value.
 */
export function explainFault(error: unknown): string {
  if (!(error instanceof TransferError)) return explain(error);
  return [error.message, error.hint ?? ""].map(withPoint).join(" ").trim();
}

const withPoint = (text: string): string => (/[.!?]$|^$/.test(text) ? text : `${text}.`);
