import { ItemVaultError, type VaultEvent } from "@item-vault/client";
import { vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { jsonOf, tell } from "../output/format.ts";
import { timeOf } from "../output/time.ts";
import type { EVENTS_OPTIONS } from "./table.ts";

/** `events`: one line for each event. */
export async function run({ io, options, client: connect }: Call<typeof EVENTS_OPTIONS>): Promise<void> {
  const { follow = false, after = follow ? "latest" : "0", format } = options;
  const client = await connect();
  const vault = options.vault === undefined ? undefined : await vaultIdOf(client, options.vault);
  let last: string | undefined;
  const onOpen = (cursor: string) => void (last = cursor || last);
  const onRetry = ({ message }: ItemVaultError, delay: number) =>
    void tell(io, `${message}: trying again in ${Math.ceil(delay / 1000)} s`);
  try {
    for await (const event of client.events({ vault, after, follow, onOpen, onRetry })) {
      last = event.cursor;
      await write(io.stdout, `${LINES[format ?? "table"]!(event)}\n`);
    }
  } catch (error) {
    if (!(error instanceof ItemVaultError && error.status === 410)) throw error;
    throw new CliError("The events after this cursor are no longer kept", {
      exit: "conflict",
      hint: "Read the items again, then use --after latest.",
    });
  }
  if (!follow && last !== undefined) await tell(io, `Later events: --after ${last}`);
}

const LINES: Readonly<Record<string, (event: VaultEvent) => string>> = {
  json: (event) => jsonOf(event),
  table: ({ at = "", type, vault = "", item = "", version, actor = "" }) => {
    const columns = [timeOf(at), type, item || vault, version === undefined ? "" : `version ${version}`, actor && `by ${actor}`];
    return printable(columns.filter(Boolean).join("  "));
  },
};
