import type { Item } from "@item-vault/client";

/** What a POST or a PUT takes of an Item. The keys are in the order in which a person reads them. */
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
 * What has to be equal in a copy of an Item. The ids of Files differ, and with them their order. No Item with a File that does not open has
 * an equal copy: the copy lacks the File.
 */
export const comparableOf = (item: Item) => ({
  ...writableOf(item),
  state: item.state,
  files: item.files.map(({ name, size, section }) => JSON.stringify([name, size, section?.id])).toSorted(),
  brokenFiles: item.brokenFiles,
});
