import { ItemVaultError } from "@item-vault/client";
import { vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { timeOf } from "../items/present.ts";
import { tell } from "../output/format.ts";
import { printable } from "../output/text.ts";
import { ALL_EVENTS, followEvents, type ServerEvent } from "./event-stream.ts";
import type { EVENTS_OPTIONS } from "./table.ts";

/** `events`: one line for each event. */
export async function run({ io, options, client: connect }: Call<typeof EVENTS_OPTIONS>): Promise<void> {
  const { follow = false, after = follow ? "latest" : "0", format } = options;
  const client = await connect();
  const path = options.vault === undefined ? ALL_EVENTS : `/v1/vaults/${await vaultIdOf(client, options.vault)}/events`;
  const onFailure = ({ message }: ItemVaultError, delay: number) => tell(io, `${message}: trying again in ${delay / 1000} s`);
  let last: string | undefined;
  try {
    for await (const event of followEvents(client, { path, after, follow, onFailure })) {
      last = event.id || last;
      if (event.data !== "") await write(io.stdout, `${LINES[format ?? "table"]!(event)}\n`);
    }
  } catch (error) {
    if (!(error instanceof ItemVaultError && error.status === 410)) throw error;
    throw new CliError("The events after this cursor are not kept any more", {
      exit: "conflict",
      hint: "Read the Items again, and begin with --after latest.",
    });
  }
  if (!follow && last !== undefined) await tell(io, `Later events: --after ${last}`);
}

const LINES: Readonly<Record<string, (event: ServerEvent) => string>> = {
  json: ({ id, type, data }) => JSON.stringify({ ...(JSON.parse(data) as object), type, cursor: id }),
  table: ({ type, data }) => {
    const { at = "", vault = "", item = "", version, actor = "" } = JSON.parse(data) as Partial<Record<string, string | number>>;
    const columns = [
      timeOf(String(at)),
      type,
      item || vault,
      version === undefined ? "" : `version ${version}`,
      actor && `by ${actor}`,
    ];
    return printable(columns.filter(Boolean).join("  "));
  },
};
