import { type KeyedFile, placeOf } from "../model/file.ts";
import { writeId } from "../model/ids.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { readContent } from "../store/open-content.ts";
import { readFile, readFiles } from "../store/files.ts";
import { sendContent } from "./download.ts";
import { enterItem, fileId, type ItemEntry } from "./enter.ts";
import { presentFile } from "./present.ts";
import type { Call, Handler } from "./route.ts";

/** Endpoints 7 to 9: the Files of an Item, and their contents. */

export const listFiles: Handler = async (c) => {
  const entry = await enterItem(c, "r", "vault_not_found");
  if (!entry.ok) return entry;
  const { store, item } = entry.value;
  const files = await readFiles(store, entry.value, item);
  if (!files.ok) return files;
  const presented = await presentAll(c, entry.value, files.value);
  return presented.ok ? ok(c.json(presented.value)) : presented;
};

export const getFile: Handler = async (c) => {
  const entry = await enterItem(c, "r", "out_of_scope");
  if (!entry.ok) return entry;
  const { store, item } = entry.value;
  const file = await readFile(store, entry.value, item, fileId(c));
  if (!file.ok) return file;
  const presented = await presentAll(c, entry.value, [file.value]);
  return presented.ok ? ok(c.json(presented.value[0])) : presented;
};

export const getContent: Handler = async (c) => {
  const entry = await enterItem(c, "r", "vault_not_found");
  if (!entry.ok) return entry;
  const { store, vault, item } = entry.value;
  const file = await readFile(store, entry.value, item, fileId(c));
  return file.ok ? sendContent(c, placeOf(vault, item, file.value), file.value) : file;
};

/** `inline_files`, or `inline_content`: whether the contents are to come along. */
function readInline(c: Call): Result<boolean> {
  const value = c.req.query("inline_files") ?? c.req.query("inline_content") ?? "false";
  if (value !== "true" && value !== "false") return invalid("inline_files: is not true or false");
  return ok(value === "true");
}

/** The Files, with their contents where the query asks for them. Errors: 400, 413, those of reading a content. */
async function presentAll(c: Call, { vault, item, claims }: ItemEntry, files: readonly KeyedFile[]): Promise<Result<object[]>> {
  const inline = readInline(c);
  if (!inline.ok) return inline;
  const large = inline.value ? files.find((file) => file.size > c.env.MAX_INLINE_FILE_SIZE_KB * 1024) : undefined;
  if (large) return fail("too_large_to_inline", writeId(large.id, claims.dialect));
  const presented: object[] = [];
  for (const file of files) {
    const content = inline.value ? await readContent(c.env.FILES, placeOf(vault, item, file), file) : ok(undefined);
    if (!content.ok) return content;
    presented.push(presentFile(file, { id: item, vault }, claims.dialect, content.value));
  }
  return ok(presented);
}
