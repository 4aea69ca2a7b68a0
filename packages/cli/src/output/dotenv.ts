import { quote } from "@item-vault/transfer/dotenv";
import { CliError } from "../frame/failure.ts";

/** `NAME=value` lines that both Node (`util.parseEnv`) and `sh` read as the value. */

export interface Variable {
  readonly name: string;
  readonly value: string;
  /** The label of the value, for an error. */
  readonly label: string;
}

/** Returns a line for each variable. Throws a CliError that names the label of a value that no such line can hold. */
export const dotenvOf = (variables: readonly Variable[]): string =>
  variables.map(({ name, value, label }) => `${name}=${quoted(value, label)}\n`).join("");

function quoted(value: string, label: string): string {
  const text = quote(value);
  if (text !== undefined) return text;
  const what = /[\r\0]/.test(value)
    ? "a carriage return or a NUL"
    : value.includes("'")
      ? 'a single quote together with one of " $ ` \\'
      : "a backslash at the end";
  throw new CliError(`A .env file cannot hold the value of ${JSON.stringify(label)}: it has ${what}`, {
    hint: "Use --format json, or `item-vault run` with a reference.",
  });
}
