import type { Item } from "../api/shapes.ts";

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
