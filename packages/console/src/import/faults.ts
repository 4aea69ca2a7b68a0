import { TransferError } from "@item-vault/transfer/error";
import { explain } from "../failures/explain.ts";

/** What failed, in words: of the file as the command line says it, of a request as the console does. No value is part of it. */
export function explainFault(error: unknown): string {
  if (!(error instanceof TransferError)) return explain(error);
  return [error.message, error.hint ?? ""].map(withPoint).join(" ").trim();
}

const withPoint = (text: string): string => (/[.!?]$|^$/.test(text) ? text : `${text}.`);
