import * as fc from "fast-check";
import { expect } from "vitest";
import { canary } from "../../support/canary.ts";
import { lengthOf } from "../../support/files.ts";
import { type Client, LOGIN, type Reply } from "../../support/service.ts";
import { addVersion, deleteItem, destroyItem, destroyVersion, type Kept, type Model, type ModelItem } from "./model.ts";

/** The commands of the property: each sends a request, and changes the model as the contract says. */

export const KINDS = [
  ...Array.from({ length: 3 }, () => "patch" as const),
  ...Array.from({ length: 2 }, () => "put" as const),
  ...Array.from({ length: 2 }, () => "restore-version" as const),
  ...Array.from({ length: 2 }, () => "delete" as const),
  ...Array.from({ length: 2 }, () => "restore-item" as const),
  ...Array.from({ length: 2 }, () => "add-file" as const),
  "replace-content",
  "delete-file",
  "destroy-version",
  "destroy-item",
  "archive",
  "unarchive",
  "post",
] as const;

export interface Command {
  readonly kind: (typeof KINDS)[number];
  /** Which Item, of a few, and which of its versions or Files. */
  readonly slot: number;
  readonly pick: number;
}

/** In: the fewest and the most commands. */
export const commandsOf = (fewest: number, most: number): fc.Arbitrary<Command[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...KINDS), slot: fc.nat(1), pick: fc.nat(5) }), {
    minLength: fewest,
    maxLength: most,
    size: "max",
  });

export interface Play {
  readonly call: Client;
  readonly vault: string;
  readonly kept: Kept;
  readonly model: Model;
  /** The ids of the Items by slot; that of a destroyed Item is replaced by a new one, or made anew with the same id. */
  readonly slots: string[];
  /** By Item and version, the answer that showed the version when it was current. */
  readonly shown: Map<string, any>;
}

const refused = ({ status, headers }: Reply): string => `${status} ${headers.get("Item-Vault-Error")}`;
const NO_ITEM = "404 item_not_found";
const NO_VERSION = "404 version_not_found";

/** Carries out a command in the service and in the model. Out: the id of the Item that it touched. */
export async function carryOut({ call, vault, kept, model, slots }: Play, { kind, slot, pick }: Command): Promise<string> {
  const items = `/v1/vaults/${vault}/items`;
  const known = model.items.get(slots[slot] ?? "");
  if (!known || (known.state === "destroyed" && pick > 1 && kind !== "post")) {
    const value = canary();
    const { status, body } = await call("POST", items, { body: { ...LOGIN, title: value, tags: [value] } });
    expect(status).toBe(200);
    const item: ModelItem = { id: body.id, last: 0, versions: new Map(), state: "exists" };
    model.items.set(item.id, item);
    slots[slot] = item.id;
    addVersion(model, kept, item, { title: value, values: [value], archived: false, files: new Map() }, "created");
    return item.id;
  }
  const own = `${items}/${known.id}`;
  const deleted = `/v1/vaults/${vault}/deleted-items/${known.id}`;
  const current = known.versions.get(known.last)!;
  const exists = known.state === "exists";
  const isDeleted = known.state === "deleted";
  // One of the versions around those that are kept.
  const version = Math.max(1, known.last - pick);
  const file = exists ? [...current.files.keys()][pick % Math.max(current.files.size, 1)] : undefined;
  const missing = exists ? (file === undefined ? "404 file_not_found" : undefined) : NO_ITEM;
  const check = (reply: Reply, failure: string | undefined): boolean => {
    if (failure === undefined)
      expect([kind, reply.status, reply.text]).toEqual([kind, reply.status === 204 ? 204 : 200, reply.text]);
    else expect([kind, refused(reply)]).toEqual([kind, failure]);
    return failure === undefined;
  };
  const add = (next: Partial<typeof current>, verb?: string) => addVersion(model, kept, known, { ...current, ...next }, verb);
  const value = canary();
  const bytes = new TextEncoder().encode(`${value}${"x".repeat(pick)}`);
  const uploaded = { body: bytes, headers: lengthOf(bytes) };

  switch (kind) {
    case "put": {
      const body = { ...LOGIN, vault: { id: vault }, title: value, tags: [value] };
      if (check(await call("PUT", own, { body }), exists ? undefined : NO_ITEM)) add({ title: value, values: [value] });
      break;
    }
    case "patch": {
      const body = [
        { op: "replace", path: "/title", value },
        { op: "add", path: "/tags/-", value },
      ];
      const done = check(await call("PATCH", own, { body }), exists ? undefined : NO_ITEM);
      if (done) add({ title: value, values: [...current.values, value] });
      break;
    }
    case "add-file": {
      const reply = await call("POST", `${own}/files?name=${value}`, uploaded);
      if (check(reply, exists ? undefined : NO_ITEM))
        add({ files: new Map([...current.files, [reply.body.id, { name: value, content: { bytes } }]]) });
      break;
    }
    case "replace-content": {
      const done = check(await call("PUT", `${own}/files/${file ?? "none"}/content`, uploaded), missing);
      if (done) add({ files: new Map([...current.files, [file!, { ...current.files.get(file!)!, content: { bytes } }]]) });
      break;
    }
    case "delete-file": {
      const done = check(await call("DELETE", `${own}/files/${file ?? "none"}`), missing);
      if (done) add({ files: new Map([...current.files].filter(([id]) => id !== file)) });
      break;
    }
    case "delete":
      if (check(await call("DELETE", own), exists ? undefined : NO_ITEM)) deleteItem(model, kept, known);
      break;
    case "restore-item":
      if (check(await call("POST", `${deleted}/restore`), isDeleted ? undefined : NO_ITEM)) add({}, "restored");
      break;
    case "destroy-item":
      if (check(await call("DELETE", deleted), isDeleted ? undefined : NO_ITEM)) destroyItem(model, known);
      break;
    case "restore-version": {
      const failure = exists ? (known.versions.has(version) ? undefined : NO_VERSION) : NO_ITEM;
      const reply = await call("POST", `${own}/versions/${version}/restore`);
      const done = check(reply, failure);
      // The current version restored is the Item as it is.
      if (done && version !== known.last) add({ ...known.versions.get(version)!, archived: current.archived }, "restored");
      if (done) expect(reply.body.version).toBe(known.last);
      break;
    }
    case "destroy-version": {
      const wrong = version === known.last ? "400 invalid" : known.versions.has(version) ? undefined : NO_VERSION;
      if (check(await call("DELETE", `${own}/versions/${version}`), exists ? wrong : NO_ITEM))
        destroyVersion(model, known, version);
      break;
    }
    case "post": {
      const body = { ...LOGIN, title: value, tags: [value] };
      const reply = await call("POST", items, { body, headers: { "Item-Id": known.id } });
      if (!check(reply, known.state === "destroyed" ? undefined : "409 item_exists")) break;
      expect(reply.body.id).toBe(known.id);
      known.last = 0;
      addVersion(model, kept, known, { title: value, values: [value], archived: false, files: new Map() }, "created");
      break;
    }
    default: {
      const archived = kind === "archive";
      if (check(await call("POST", `${own}/${kind}`), exists ? undefined : NO_ITEM) && archived !== current.archived)
        add({ archived });
    }
  }
  return known.id;
}
