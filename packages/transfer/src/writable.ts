import type { Item } from "@item-vault/client";

/** Returns the attributes of an Item for a POST or a PUT. The keys are in the order for a human reader. */
export const writableOf = ({ title, category, favorite, tags, urls, sections, fields }: Item) => ({
  title,
  category,
  favorite,
  tags,
  urls,
  sections,
  fields: fields.map(({ entropy: _entropy, totp: _totp, ...field }) => field),
});

/**
 * Returns the attributes that are equal in a copy of an Item. The ids of Files differ, and so does their order. An Item with a broken File
 * has no equal copy, because the copy lacks the File.
 */
export const comparableOf = (item: Item) => ({
  ...writableOf(item),
  state: item.state,
  files: item.files.map(({ name, size, section }) => JSON.stringify([name, size, section?.id])).toSorted(),
  brokenFiles: item.brokenFiles,
});
