import { type Client, ItemVaultError, type PatchOperation } from "@item-vault/client";
import { findItem, type ItemPath } from "../api/find.ts";
import type { Item } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { show, tell } from "../output/format.ts";
import { withKnownAttributes } from "./check.ts";
import { loadItem } from "./duplicate.ts";
import { editInteractively } from "./editor.ts";
import { readJson, withJson, type WrittenItem } from "./input.ts";
import { operationsOf } from "./patch.ts";
import { shownItem } from "./present.ts";
import { loadFields, parseFieldSource } from "./sources.ts";
import type { EDIT_OPTIONS } from "./options.ts";

type EditCall = Call<typeof EDIT_OPTIONS>;

/** `item edit`: by options (a PATCH), by JSON from a file or stdin, or in the editor (a PUT of what was read). */
export async function run({ io, args, options, client: connect }: EditCall): Promise<void> {
  const [name, file] = args;
  const changes = ["title", "tag", "url", "favorite", "username", "field", "remove-field"].filter((each) => each in options);
  if (file !== undefined && changes.length > 0) throw withJson(changes[0]!);
  // Read before the first request, so that the time between reading and writing the Item is short.
  const json = file === undefined ? undefined : await readJson(io, file);
  const fields = await loadFields(io, (options.field ?? []).map(parseFieldSource));
  const client = await connect();
  const path = await findItem(client, name!, options.vault);
  if (changes.length > 0) {
    const item = await patch(client, path, (current) => operationsOf(current, options, fields));
    return show(io, options.format, shownItem(item, options.reveal));
  }
  const current = await loadItem(client, path);
  const replace = async (edited: WrittenItem): Promise<Item> => {
    const { data: item } = await client.call("PUT /v1/vaults/{vault}/items/{item}", {
      path,
      headers: { "If-Match": current.etag },
      body: { ...withKnownAttributes(edited, current.item), vault: current.item.vault },
    });
    return item;
  };
  const edit = () => (json ? replace(checkedVersion(json, current.item)) : editInteractively(io, current.item, replace));
  const item = await edit();
  // In the dialect `connect` the answer to PUT has the version before it (contract 3.5).
  return item ? show(io, options.format, shownItem(item, options.reveal)) : tell(io, "Nothing was changed");
}

const TRIES_MAX = 5;

/**
 * Changes the Item by operations that depend on its fields. When somebody else changes it meanwhile, they are made again from what it
 * is then: otherwise two commands that add the same field would add it twice.
 */
async function patch(client: Client, path: ItemPath, operationsFor: (item: Item) => PatchOperation[]): Promise<Item> {
  for (let attempt = 1; ; attempt++) {
    const { item, etag } = await loadItem(client, path);
    try {
      const headers = { "If-Match": etag };
      return (await client.call("PATCH /v1/vaults/{vault}/items/{item}", { path, headers, body: operationsFor(item) })).data;
    } catch (error) {
      if (attempt === TRIES_MAX || !(error instanceof ItemVaultError && error.status === 412)) throw error;
    }
  }
}

/** JSON that names a version replaces that version only. Errors: throws a CliError when the Item has another one. */
function checkedVersion(json: WrittenItem, { version }: Item): WrittenItem {
  if (json.version === undefined || json.version === version) return json;
  throw new CliError(`The item has version ${version}, but the JSON has another`, {
    exit: "conflict",
    hint: "Read the item again, or remove `version` from the JSON to overwrite it.",
  });
}
