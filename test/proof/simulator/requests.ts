import type { Write, WriteKind } from "./history.ts";

/** The requests of the clients. */

/** How often a client sends each kind of request. `again` repeats an acknowledged write with its Idempotency-Key. */
const SHARES: Readonly<Record<WriteKind | "read" | "again", number>> = {
  read: 0.32,
  patch: 0.27,
  put: 0.13,
  create: 0.07,
  again: 0.06,
  "add-file": 0.05,
  "delete-file": 0.04,
  delete: 0.06,
};

/** In: a number from 0 to 1. */
export function drawKind(random: number): keyof typeof SHARES {
  let left = random;
  for (const [kind, share] of Object.entries(SHARES)) if ((left -= share) < 0) return kind as keyof typeof SHARES;
  return "read";
}

/** Characters of a value that makes D1 refuse the row (database.ts). */
const TOO_LARGE = 60_000;

/** The request of a write. It writes the value into the tags and into the fields, which are in another sealed text. */
export function requestOf({ kind, vault, item, value, file, spoiled }: Write): { method: string; path: string; body?: string } {
  const items = `/v1/vaults/${vault}/items`;
  const own = `${items}/${item}`;
  const text = spoiled === "value that D1 refuses" ? value.padEnd(TOO_LARGE) : value;
  const field = { id: value, value: text };
  const whole = JSON.stringify({ title: value, category: "LOGIN", vault: { id: vault }, tags: [value], fields: [field] });
  const added = JSON.stringify([
    { op: "add", path: "/tags/-", value },
    { op: "add", path: `/fields/${value}`, value: { value: text } },
  ]);
  const requests: Readonly<Record<WriteKind, { method: string; path: string; body?: string }>> = {
    create: { method: "POST", path: items, body: whole },
    put: { method: "PUT", path: own, body: whole },
    patch: { method: "PATCH", path: own, body: added },
    delete: { method: "DELETE", path: own },
    "add-file": { method: "POST", path: `${own}/files?name=${value}`, body: value },
    "delete-file": { method: "DELETE", path: `${own}/files/${file?.id}` },
  };
  return requests[kind];
}

/** The content of an Item in an answer, in one text: the values in its tags, which its fields must have too, and its Files. */
export function contentOf({
  tags,
  fields,
  files,
}: {
  tags: string[];
  fields: { id: string; value: string }[];
  files: { name: string; size: number }[];
}): string {
  const values = fields.map(({ id, value }) => (id === value.trimEnd() ? id : `${id} with another value`));
  const names = files.map(({ name, size }) => (size === name.length ? name : `${name} with ${size} bytes`));
  if (values.join(" ") !== tags.join(" ")) return `torn: tags ${tags.join(" ")}, fields ${values.join(" ")}`;
  return formatContent(tags, names);
}

export const formatContent = (values: readonly string[], files: readonly string[]): string =>
  `${values.join(" ")} | ${files.toSorted().join(" ")}`;
