import { expect } from "vitest";
import { failureOf } from "../../../../packages/cli/src/frame/failure.ts";
import { TransferError } from "../../../../packages/transfer/src/error.ts";
import type { ImportFormat, ReadOptions } from "../../../../packages/transfer/src/format.ts";
import type { Transfer, TransferItem } from "../../../../packages/transfer/src/item.ts";

/** Runs readers of formats in this process. */

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const jsonBytes = (value: unknown): Uint8Array => utf8(JSON.stringify(value));

/** The number of cases of a property. */
export const runs = (short: number, long = 1_000): number => (process.env["LONG_RUN"] === "1" ? long : short);

export const read = (
  format: ImportFormat,
  bytes: Uint8Array,
  options: Partial<ReadOptions> & { readonly secret?: string } = {},
) =>
  format.read(bytes, {
    fileName: "export.file",
    argon2id: async (parameters) => await (await import("../../../../packages/transfer/src/argon2.ts")).argon2id(parameters),
    password: () =>
      options.secret === undefined ? Promise.reject(new Error("asked for a password")) : Promise.resolve(options.secret),
    ...options,
  });

/** Expects a TransferError for a malformed source. Out: its message. */
export async function refusal(format: ImportFormat, bytes: Uint8Array, options?: Parameters<typeof read>[2]): Promise<string> {
  const error: unknown = await read(format, bytes, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TransferError);
  expect(failureOf(error)?.exit).toBe("usage");
  return (error as TransferError).message;
}

/** Expects that every beginning of a file at each eighth, and none of its own texts in a message, is refused. */
export async function expectTruncationsRefused(format: ImportFormat, bytes: Uint8Array, options?: Parameters<typeof read>[2]) {
  for (let eighth = 0; eighth < 8; eighth++) {
    const message = await refusal(format, bytes.subarray(0, Math.floor((bytes.length * eighth) / 8)), options);
    expect(message).not.toContain("secret");
  }
}

export const itemOf = ({ items }: Transfer, title: string): TransferItem => items.find((item) => item.title === title)!;

/** The values of the fields by their labels. */
export const valuesOf = ({ fields }: Pick<TransferItem, "fields">): Record<string, string> =>
  Object.fromEntries(fields.map(({ label, id, purpose, value }) => [label ?? id ?? purpose?.toLowerCase(), value]));

/** Counts by what is lost. */
export const lossesOf = ({ losses }: Pick<Transfer, "losses">): Record<string, number> =>
  Object.fromEntries(losses.map(({ what, count }) => [what, count]));

/** The content of each File, by its name. */
export const filesOf = async ({ files }: TransferItem): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(files.map(async ({ name, read: content }) => [name, new TextDecoder().decode(await content())])),
  );
