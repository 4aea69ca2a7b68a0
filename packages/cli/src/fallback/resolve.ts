import { readFile } from "node:fs/promises";
import type { Values } from "../frame/command.ts";
import { normalizedHost } from "../frame/connection.ts";
import { describeDuration, secondsOf } from "../frame/duration.ts";
import { CliError, failureOf } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";
import { beginsOtherwise, writeWholeFile } from "../frame/output-file.ts";
import { printable } from "../frame/printable.ts";
import { codeOf, reasonOf } from "../frame/reasons.ts";
import type { Access } from "../frame/settings.ts";
import type { FALLBACK_OPTIONS } from "./options.ts";
import { MAGIC, openSnapshot, sealSnapshot } from "./sealed-file.ts";

/** Values of an earlier run, for when the service does not answer. Nothing is stored unless the user asks for it. */

interface FallbackCall {
  readonly io: Io;
  readonly options: Values<typeof FALLBACK_OPTIONS>;
  readonly access: () => Promise<Pick<Access, "host" | "token">>;
}

const CLOCK_TOLERANCE_MS = 300_000;

/**
 * Returns the values of `resolve` and stores them in the file of `--fallback`. If the service does not answer, returns the values of the file. A
 * refusal of the token or of a reference is thrown. If the file cannot be written, stderr says so.
 */
export async function withFallback(
  { io, options, access }: FallbackCall,
  references: readonly string[],
  resolve: () => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  const path = options.fallback;
  const maxAge = secondsOf("--max-age", options["max-age"] ?? "24h") * 1000;
  if (path === undefined || references.length === 0) return resolve();
  if (await beginsOtherwise(path, MAGIC).catch(() => false))
    // an unreadable file is reported when it is needed
    throw new CliError(`${path} is not a fallback file`, {
      exit: "usage",
      hint: "Name another file with --fallback, or delete this one.",
    });
  const { host, token } = await access();
  const values = await resolve().catch((error: unknown) => {
    if (failureOf(error)?.exit !== "unavailable") throw error;
    return undefined;
  });
  if (!values) return loadValues(path, { host, token, maxAge }, references, io);
  const snapshot = { host, at: Date.now(), values: Object.fromEntries(values) };
  // The service has answered, so a file that cannot be written does not stop the command.
  await writeWholeFile(path, sealSnapshot(snapshot, token), { force: true }).catch((error: unknown) => {
    const why = failureOf(error)?.message ?? "an unexpected fault";
    return write(io.stderr, `item-vault: the values were not kept for --fallback: ${printable(why)}\n`);
  });
  return values;
}

async function loadValues(
  path: string,
  { host, token, maxAge }: Pick<Access, "host" | "token"> & { readonly maxAge: number },
  references: readonly string[],
  io: Io,
): Promise<Map<string, string>> {
  const unusable = (why: string) =>
    new CliError(`The service did not answer, and ${why}`, {
      exit: "unavailable",
      hint: `The fallback file is ${JSON.stringify(path)}.`,
    });
  const bytes = await readFile(path).catch((error: unknown) => {
    const isMissing = codeOf(error) === "ENOENT";
    throw unusable(isMissing ? "there is no fallback file" : `the fallback file cannot be read: ${reasonOf(error)}`);
  });
  const snapshot = openSnapshot(bytes, token);
  if (!snapshot || normalizedHost(snapshot.host) !== normalizedHost(host))
    throw unusable("the fallback file is damaged, or belongs to another token or host");
  const passed = Date.now() - snapshot.at;
  const age = Math.max(0, passed);
  if (passed < -CLOCK_TOLERANCE_MS) throw unusable("the fallback file is from the future by the clock of this machine");
  if (age > maxAge)
    throw unusable(`the fallback file is ${describeDuration(age)} old: --max-age allows ${describeDuration(maxAge)}`);
  const missing = references.filter((reference) => !Object.hasOwn(snapshot.values, reference));
  if (missing.length > 0) throw unusable(`the fallback file lacks ${missing.length} of the references`);
  await write(io.stderr, `item-vault: the service did not answer: using values that are ${describeDuration(age)} old\n`);
  return new Map(references.map((reference) => [reference, snapshot.values[reference]!]));
}
