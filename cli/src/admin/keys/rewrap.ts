import type { Client } from "@item-vault/client";
import { request } from "../../api/answers.ts";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/plural.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { KEYS, loadKeys, type ServiceKey } from "./service.ts";
import type { KeysCall } from "./options.ts";

/** What a slice has done (contract 20.3). */
interface Slice {
  readonly rewrapped: number;
  readonly failed: number;
  readonly left: number;
  readonly cursor?: string;
}

/** `admin keys rewrap`: sends slices until nothing is left, or only what does not open. Cut off, it is run again. */
export async function run({ io, options, admin: connect }: KeysCall): Promise<void> {
  const admin = await connect();
  const keys = await loadKeys(admin);
  const others = keys.filter(({ state }) => state !== "active");
  const total = others.reduce((sum, { vaults, tokens, endedTokens }) => sum + vaults + tokens + endedTokens, 0);
  if (options["dry-run"]) return tell(io, `Would rewrap ${plural(total, "row")}. Nothing was changed`);
  const progress = startProgress(io, "rewrapped", total, (done, end) => `${done} of ${plural(end!, "row")}`);
  let [rewrapped, left] = [0, total];
  try {
    // Again while it helps: Workers with the value before may have added rows behind the cursor.
    for (let before = -1; left > 0 && rewrapped > before;) {
      before = rewrapped;
      for await (const slice of slicesOf(admin)) {
        rewrapped += slice.rewrapped;
        left = slice.left;
        progress.set(rewrapped, rewrapped + left);
      }
    }
  } finally {
    progress.end();
  }
  const active = keys.find(({ state }) => state === "active")?.id ?? "";
  await tell(io, `Rewrapped ${plural(rewrapped, "row")} under the active key ${active}; left under others: ${left}`);
  if (left === 0) return tellStaged(io, keys);
  const hint = "`item-vault vault list --admin` and `item-vault token list` show what does not open (docs/operations.md).";
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

async function* slicesOf(admin: Client): AsyncGenerator<Slice> {
  for (let query: Record<string, string> = {}; ;) {
    const slice: Slice = await request<Slice>(admin, "POST", `${KEYS}/rewrap`, { query });
    yield slice;
    if (slice.cursor === undefined) return;
    query = { cursor: slice.cursor };
  }
}
