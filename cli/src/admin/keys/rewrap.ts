import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/plural.ts";
import { tell } from "../../output/format.ts";
import { runJob } from "../jobs/run-job.ts";
import { loadKeys, type ServiceKey } from "./service.ts";
import type { KeysCall } from "./options.ts";

/** `admin keys rewrap`: the service puts everything under the active key, or all but what does not open. */
export async function run({ io, options, admin: connect }: KeysCall): Promise<void> {
  const admin = await connect();
  const keys = await loadKeys(admin);
  const others = keys.filter(({ state }) => state !== "active");
  const rows = others.reduce((sum, { vaults, tokens, endedTokens }) => sum + vaults + tokens + endedTokens, 0);
  if (options["dry-run"]) return tell(io, `Would rewrap ${plural(rows, "row")}. Nothing was changed`);
  const { progress } = await runJob(io, admin, { json: { kind: "rewrap" }, label: "rewrapped", unit: "row" });
  const left = progress.total - progress.done;
  const active = keys.find(({ state }) => state === "active")?.id ?? "";
  await tell(io, `Rewrapped ${plural(progress.done, "row")} under the active key ${active}; left under others: ${left}`);
  if (left === 0) return tellStaged(io, keys);
  const hint = "`item-vault admin jobs` shows what does not open (docs/operations.md).";
  throw new CliError(`${plural(left, "row")} cannot be opened`, { hint });
}

/** A key that the service has and does not use: after `activate` the service was not given the file yet. */
async function tellStaged(io: KeysCall["io"], keys: readonly ServiceKey[]): Promise<void> {
  const staged = keys.filter(({ state }) => state === "staged").map(({ id }) => id);
  if (staged.length === 0) return;
  await tell(
    io,
    `The service does not use the key ${staged.join(", ")} yet: after \`activate\`, upload the file or restart first, and rewrap then`,
  );
}
