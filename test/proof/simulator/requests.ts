import type { Read, Write, WriteKind } from "./history.ts";

/** The requests of the clients. */

/** How often a client sends each kind of request. `again` repeats an acknowledged write with its Idempotency-Key. */
const SHARES: Readonly<Record<WriteKind | Read["kind"] | "again", number>> = {
  item: 0.19,
  version: 0.05,
  versions: 0.03,
  deleted: 0.01,
  events: 0.04,
  patch: 0.23,
  put: 0.1,
  create: 0.05,
  again: 0.05,
  "add-file": 0.04,
  "delete-file": 0.03,
  delete: 0.05,
  "restore-item": 0.04,
  "restore-version": 0.04,
  "destroy-version": 0.02,
  "destroy-item": 0.01,
  archive: 0.01,
  unarchive: 0.01,
};

/** In: a number from 0 to 1. */
export function drawKind(random: number): keyof typeof SHARES {
  let left = random;
  for (const [kind, share] of Object.entries(SHARES)) if ((left -= share) < 0) return kind as keyof typeof SHARES;
  return "item";
}

/** Characters of a value that makes D1 refuse the row (database.ts). */
const TOO_LARGE = 60_000;

/** The request of a write. It writes the value into the tags and into the fields, which are in another sealed text. */
export function requestOf({ kind, vault, item, value, version, file, spoiled }: Write): {
  method: string;
  path: string;
  body?: string;
} {
  const items = `/v1/vaults/${vault}/items`;
  const own = `${items}/${item}`;
  const deleted = `/v1/vaults/${vault}/deleted-items/${item}`;
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
    "restore-version": { method: "POST", path: `${own}/versions/${version}/restore` },
    "destroy-version": { method: "DELETE", path: `${own}/versions/${version}` },
    "restore-item": { method: "POST", path: `${deleted}/restore` },
    "destroy-item": { method: "DELETE", path: deleted },
    archive: { method: "POST", path: `${own}/archive` },
    unarchive: { method: "POST", path: `${own}/unarchive` },
  };
  return requests[kind];
}

/** The path of a read. */
export function pathOf(vault: string, read: Read): string {
  const own = `/v1/vaults/${vault}`;
  if (read.kind === "events") return `${own}/events?after=${read.after}&limit=${read.limit}`;
  if (read.kind === "deleted") return `${own}/deleted-items/${read.item}`;
  const version = read.kind === "version" ? `/versions/${read.version}` : "";
  return `${own}/items/${read.item}${read.kind === "versions" ? "/versions" : version}`;
}

/** The content of an Item in an answer, in one text: the values in its tags, which its fields must have too, and its Files. */
export function contentOf({
  tags,
  fields,
  files,
  state,
}: {
  state?: string;
  tags: string[];
  fields: { id: string; value: string }[];
  files: { name: string; size: number }[];
}): string {
  const values = fields.map(({ id, value }) => (id === value.trimEnd() ? id : `${id} with another value`));
  const names = files.map(({ name, size }) => (size === name.length ? name : `${name} with ${size} bytes`));
  if (values.join(" ") !== tags.join(" ")) return `torn: tags ${tags.join(" ")}, fields ${values.join(" ")}`;
  return formatContent({ values: tags, files: names, archived: state === "ARCHIVED" });
}

/** What a version contains, besides its File's contents. */
export interface Content {
  readonly values: readonly string[];
  /** The names of its Files. */
  readonly files: readonly string[];
  readonly archived: boolean;
}

export const formatContent = ({ values, files, archived }: Content): string =>
  `${archived ? "archived: " : ""}${values.join(" ")} | ${files.toSorted().join(" ")}`;
