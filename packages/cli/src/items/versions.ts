import { entriesOf } from "@item-vault/client";
import { findItem } from "../api/find.ts";
import { allOf } from "../api/lists.ts";
import { actorsOfToken, namesIn } from "../api/names.ts";
import type { Call } from "../frame/command.ts";
import { isTable, show } from "../output/format.ts";
import { tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import type { VERSIONS_OPTIONS } from "./table.ts";

/** `item versions`: the versions that an Item has, newest first. */
export async function run({ io, args, options, client: connect }: Call<typeof VERSIONS_OPTIONS>): Promise<void> {
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault);
  const versions = await allOf(entriesOf(client, "GET /v1/vaults/{vault}/items/{item}/versions", { path }));
  const nameOf = namesIn(isTable(options.format) ? await actorsOfToken(client) : []);
  const rows = versions.map((each) => {
    const current = each.current ? "current" : "";
    if ("broken" in each) return [String(each.version), "", "", "(cannot be decrypted)", current];
    return [String(each.version), timeOf(each.updatedAt), nameOf(each.lastEditedBy), each.title, current];
  });
  await show(io, options.format, {
    json: versions,
    table: (columns) => tableOf(["VERSION", "WRITTEN", "BY", "TITLE", ""], rows, columns),
  });
}
