import { entriesOf } from "@item-vault/client";
import { vaultIdOf } from "../api/find.ts";
import { allOf, quotedInFilter } from "../api/lists.ts";
import type { Call, Values } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { show } from "../output/format.ts";
import { shownItems } from "./present.ts";
import type { LIST_OPTIONS } from "./table.ts";

type Options = Values<typeof LIST_OPTIONS>;

/** `item list`: the Items of a vault; the service filters. */
export async function run({ io, options, client: connect }: Call<typeof LIST_OPTIONS>): Promise<void> {
  const filter = filterOf(options);
  if (options.deleted && (filter || options.archived))
    throw new CliError("--deleted cannot be combined with filters", { exit: "usage" });
  const client = await connect();
  const vault = await vaultIdOf(client, options.vault);
  if (options.deleted) {
    const deleted = await allOf(entriesOf(client, "GET /v1/vaults/{vault}/deleted-items", { path: { vault } }));
    return show(io, options.format, shownItems(deleted));
  }
  const query = { filter, archived: options.archived };
  const { data: items } = await client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query });
  return show(io, options.format, shownItems(items));
}

/**
 * The terms of the options (contract 5.2); the title comes last, because a filter that begins with a title is parsed as a single title
 * (5.6).
 */
function filterOf({ tag, category, favorite, title }: Options): string | undefined {
  const terms = [
    ...(tag ?? []).map((each) => `tag eq ${quotedInFilter(each)}`),
    ...(category === undefined ? [] : [`category eq ${quotedInFilter(category)}`]),
    ...(favorite ? ["favorite eq true"] : []),
    ...(title === undefined ? [] : [`title co ${quotedInFilter(title)}`]),
  ];
  return terms.length === 0 ? undefined : terms.join(" and ");
}
