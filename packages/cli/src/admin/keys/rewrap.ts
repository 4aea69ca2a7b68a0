import type { Finding, RootKey } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/printable.ts";
import { tell } from "../../output/format.ts";
import { runJob } from "../jobs/run-job.ts";
import { findingsOf } from "../jobs/service.ts";
import { loadKeys } from "./service.ts";
import type { KeysCall } from "./table.ts";

/** `admin keys rewrap`: the service puts everything readable under the active key. Throws a CliError while rows are under other keys. */
export async function run({ io, options, admin: connect }: KeysCall): Promise<void> {
  const admin = await connect();
  if (options["dry-run"]) {
    const rows = rowsUnderOthers(await loadKeys(admin));
    return tell(io, `Would rewrap ${plural(rows, "row")}. Nothing was changed`);
  }
  const job = await runJob(io, admin, { json: { kind: "rewrap" }, label: "rewrapped", unit: "row" });
  // The progress is older than the end: Workers with the old ROOT_KEYS may have added rows.
  const keys = await loadKeys(admin);
  const left = rowsUnderOthers(keys);
  const active = keys.find(({ state }) => state === "active")?.id ?? "";
  await tell(io, `Rewrapped ${plural(job.progress.done, "row")} under the active key ${active}; left under others: ${left}`);
  if (left === 0) return tellStaged(io, keys);
  const broken = Math.min(left, brokenRows(await findingsOf(admin, job), keys));
  const added = left - broken;
  const show = `\`item-vault admin jobs show ${job.id}\` shows what cannot be decrypted (docs/operations.md).`;
  const again = "Workers with the ROOT_KEYS of before have added rows: run the command again.";
  const message = broken > 0 ? `${plural(broken, "row")} cannot be decrypted` : `${plural(added, "row")} left under other keys`;
  const hints = [...(broken > 0 ? [show] : []), ...(added > 0 ? [again] : [])];
  throw new CliError(message, { hint: hints.join(" ") });
}

const rowsOf = ({ vaults, tokens, endedTokens }: RootKey): number => vaults + tokens + endedTokens;

const rowsUnderOthers = (keys: readonly RootKey[]): number =>
  keys.filter(({ state }) => state !== "active").reduce((sum, key) => sum + rowsOf(key), 0);

/** Returns the number of rows that the findings name. A missing key is one finding, however many rows need it. */
function brokenRows(findings: readonly Finding[], keys: readonly RootKey[]): number {
  const missing = new Set(findings.filter(({ kind }) => kind === "root_key_missing").map(({ id }) => id));
  const underMissing = keys.filter(({ id }) => missing.has(id)).reduce((sum, key) => sum + rowsOf(key), 0);
  // Each pass may name a row again.
  const rows = new Set(findings.filter(({ kind }) => kind === "row_unreadable").map(({ table, id }) => `${table} ${id}`));
  return underMissing + rows.size;
}

/** A key that the service has and does not use: after `activate`, the file was not uploaded yet. */
async function tellStaged(io: KeysCall["io"], keys: readonly RootKey[]): Promise<void> {
  const staged = keys.filter(({ state }) => state === "staged").map(({ id }) => id);
  if (staged.length === 0) return;
  await tell(
    io,
    `The service does not use the key ${staged.join(", ")} yet: after \`activate\`, upload the file or restart first, and rewrap then`,
  );
}
