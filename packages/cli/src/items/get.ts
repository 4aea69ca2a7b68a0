import { findItem } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { show } from "../output/format.ts";
import { versionOf } from "./input.ts";
import { shownItem } from "./present.ts";
import type { GET_OPTIONS } from "./table.ts";

/** `item get`: one Item, or an earlier version of it. */
export async function run({ io, args, options, client: connect }: Call<typeof GET_OPTIONS>): Promise<void> {
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault, options.archived ? { archived: true } : {});
  const { data: item } =
    options.version === undefined
      ? await client.call("GET /v1/vaults/{vault}/items/{item}", { path })
      : await client.call("GET /v1/vaults/{vault}/items/{item}/versions/{version}", {
          path: { ...path, version: versionOf(options.version) },
        });
  await show(io, options.format, shownItem(item, options.reveal));
}
