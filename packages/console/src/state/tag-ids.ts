/** Ids of tags, for addresses: a tag is a text of a person, and browsers keep addresses in their history. */

const idsByTag = new Map<string, string>();
const tagsById = new Map<string, string>();

/** The same id each time: FNV-1a with 64 bits (RFC 9923) of the tag in UTF-8, at most 13 letters and digits. */
export function idOfTag(tag: string): string {
  const known = idsByTag.get(tag);
  if (known !== undefined) return known;
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(tag)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const id = hash.toString(36);
  idsByTag.set(tag, id);
  tagsById.set(id, tag);
  return id;
}

export const tagOfId = (id: string): string | undefined => tagsById.get(id);
