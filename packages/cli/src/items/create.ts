import { ItemVaultError, type NewItem } from "@item-vault/client";
import { CATEGORIES } from "@item-vault/model/item";
import { vaultIdOf } from "../api/find.ts";
import type { Call, Values } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { show } from "../output/format.ts";
import { withKnownAttributes } from "./edit.ts";
import { newField, readJson, withJson } from "./input.ts";
import { shownItem } from "./present.ts";
import { loadFields, parseFieldSource } from "./sources.ts";
import type { CREATE_OPTIONS } from "./table.ts";

type Options = Values<typeof CREATE_OPTIONS>;

/** `item create`: a new Item from JSON or from options. */
export async function run({ io, args, options, client: connect }: Call<typeof CREATE_OPTIONS>): Promise<void> {
  const body = args[0] === undefined ? await fromOptions(io, options) : await fromJson(io, args[0], options);
  const client = await connect();
  const { id } = body.vault ?? {};
  const vault = await vaultIdOf(client, options.vault ?? (typeof id === "string" ? id : undefined));
  const call = client.call("POST /v1/vaults/{vault}/items", { path: { vault }, body: { ...body, vault: { id: vault } } });
  const { data: item } = await (args[0] === undefined ? call.catch(nameField(body)) : call);
  await show(io, options.format, shownItem(item, options.reveal));
}

async function fromJson(io: Io, path: string, options: Options): Promise<NewItem> {
  const { vault: _vault, format: _format, reveal: _reveal, ...others } = options;
  const given = Object.keys(others).filter((name) => name in CONTENT);
  if (given.length > 0) throw withJson(given[0]!);
  const item = await readJson(io, path, "The argument is a file with the item as JSON. To give a title, use --title.");
  if (item.category === undefined)
    throw new CliError('The JSON has no "category"', { exit: "usage", hint: `It is one of ${CATEGORIES.join(", ")}.` });
  return withKnownAttributes(item);
}

/** Names a field of the options in the refusal of the service, which names it by its place in the list. */
const nameField =
  ({ fields = [] }: NewItem) =>
  (error: unknown): never => {
    const [, index, fault] = /^fields\[(\d+)\]\S*: (.+)$/s.exec(error instanceof ItemVaultError ? error.message : "") ?? [];
    const { label, purpose } = fields?.[Number(index)] ?? {};
    const name = label ?? purpose?.toLowerCase();
    throw name === undefined ? error : new CliError(`--field ${name}: ${fault}`, { exit: "usage" });
  };

/** The options that describe the content. */
const CONTENT = { title: true, category: true, username: true, url: true, tag: true, favorite: true, field: true };

async function fromOptions(io: Io, options: Options): Promise<NewItem> {
  const { title, category = "LOGIN", username, url = [], tag = [], favorite = false, field = [] } = options;
  if (title === undefined)
    throw new CliError("An item needs a title", {
      exit: "usage",
      hint: "Give --title, or the item as JSON: `item create FILE`.",
    });
  const fields = (await loadFields(io, field.map(parseFieldSource))).map(newField);
  const urls = url.map((href, index) => (index === 0 ? { href, primary: true } : { href }));
  const user = username === undefined ? [] : [{ purpose: "USERNAME" as const, value: username }];
  return { title, category, favorite, tags: tag, urls, fields: [...user, ...fields] };
}
