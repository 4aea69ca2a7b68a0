import { open } from "node:fs/promises";
import { unwritable } from "../frame/paths.ts";
import { codeOf } from "../frame/reasons.ts";

/** The log of `--log`: one JSON object a line for each read that the copy answered. The service does not know of them. */

/** Ids and times, never a value: no query, because a filter has a title. */
export interface LogEntry {
  readonly requestId: string;
  /** The client: with the token of the copy, or with the secret of `--client-token-file`. */
  readonly client: "token" | "secret";
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The ids of the Items of which the answer shows a value. */
  readonly items: readonly string[];
  /** Seconds. */
  readonly age: number;
}

export interface LocalLog {
  readonly add: (entry: LogEntry) => void;
  /** Why the last line could not be written, for example `ENOSPC`. */
  readonly fault: () => string | undefined;
  /** Ends the log after the lines that were added. */
  readonly close: () => Promise<void>;
}

const NO_LOG: LocalLog = { add: () => undefined, fault: () => undefined, close: async () => undefined };

/** Opens the file, with mode 0600, for appending. Throws a CliError. */
export async function openLocalLog(path: string | undefined, say: (message: string) => void): Promise<LocalLog> {
  if (path === undefined) return NO_LOG;
  const file = await open(path, "a", 0o600).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  let pending: string[] = [];
  let writing: Promise<void> | undefined;
  let fault: string | undefined;
  const writeLines = async () => {
    while (pending.length > 0) {
      const lines = pending.join("");
      pending = [];
      try {
        await file.appendFile(lines);
        fault = undefined;
      } catch (error) {
        const code = codeOf(error);
        if (fault === undefined) say(`reads cannot be logged (${code})`);
        fault = code;
      }
    }
  };
  return {
    add(entry) {
      pending.push(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`);
      writing ??= writeLines().finally(() => (writing = undefined));
    },
    fault: () => fault,
    async close() {
      await writing;
      await file.close();
    },
  };
}
