import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { admin, type Reply } from "../../support/service.ts";
import type { Play } from "./commands.ts";
import { type ModelItem, usageOf, type Version } from "./model.ts";

/** Compares what the service shows with the model. */

const nameOf = (item: string, version: number) => `${item} ${version}`;
const failureOf = ({ status, headers }: Reply) => [status, headers.get("Item-Vault-Error")];

/** The parts of a body that the model knows. */
const partsOf = ({ title, tags, state, files }: any) => ({
  title,
  tags,
  state,
  files: (files as any[]).map(({ id, name, size }) => ({ id, name, size })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

const expectedParts = ({ title, values, archived, files }: Version) => ({
  title,
  tags: values,
  state: archived ? "ARCHIVED" : undefined,
  files: [...files]
    .map(([id, { name, content }]) => ({ id, name, size: content.bytes.length }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

/** The body of an Item without the paths of its contents, which depend on where it is shown. */
const withoutPaths = ({ files, ...body }: any) => ({
  ...body,
  files: (files as any[]).map(({ content_path: _path, ...file }) => file),
});

/** Compares everything that the service shows of an Item. In: which versions to read in full; absent: all. */
export async function compareItem(play: Play, item: ModelItem, some?: number): Promise<void> {
  const { call, vault, shown } = play;
  const own = `/v1/vaults/${vault}/items/${item.id}`;
  const deleted = `/v1/vaults/${vault}/deleted-items/${item.id}`;
  const reply = await call("GET", own);
  const versions = await call("GET", `${own}/versions`);
  if (item.state !== "exists") {
    const missing = [404, "item_not_found"];
    expect(failureOf(reply)).toEqual(missing);
    expect(failureOf(versions)).toEqual(missing);
    expect(failureOf(await call("GET", `${own}/versions/${item.last}`))).toEqual(missing);
    const kept = await call("GET", deleted);
    if (item.state === "destroyed") return expect(failureOf(kept)).toEqual(missing);
    const { state, deletedAt, deletedBy, ...body } = kept.body;
    const last = shown.get(nameOf(item.id, item.last));
    expect([state, typeof deletedAt, typeof deletedBy]).toEqual(["DELETED", "string", "string"]);
    const { state: _state, ...before } = last;
    expect(withoutPaths(body)).toEqual(withoutPaths(before));
    return compareContents(play, item, item.last, `${deleted}/files`, "");
  }
  expect(partsOf(reply.body)).toEqual(expectedParts(item.versions.get(item.last)!));
  expect(reply.body.version).toBe(item.last);
  shown.set(nameOf(item.id, item.last), reply.body);
  const numbers = [...item.versions.keys()].toSorted((a, b) => b - a);
  const listed = numbers.map((version) => {
    const { updatedAt, lastEditedBy, title } = shown.get(nameOf(item.id, version));
    return { version, updatedAt, lastEditedBy, title, current: version === item.last };
  });
  expect(versions.body).toEqual(listed);
  const read = some === undefined ? numbers : [numbers[some % numbers.length]!];
  for (const version of read) {
    const { body } = await call("GET", `${own}/versions/${version}`);
    expect(withoutPaths(body)).toEqual(withoutPaths(shown.get(nameOf(item.id, version))));
    expect(partsOf(body)).toEqual(expectedParts(item.versions.get(version)!));
    await compareContents(play, item, version, `${own}/files`, `?version=${version}`);
  }
  const gone = some === undefined ? [0, 1] : [some % 2];
  for (const offset of gone) {
    const version = (numbers.at(-1) ?? 1) - 1 - offset;
    if (version > 0) expect(failureOf(await call("GET", `${own}/versions/${version}`))).toEqual([404, "version_not_found"]);
  }
  expect(failureOf(await call("GET", `${own}/versions/${item.last + 1}`))).toEqual([404, "version_not_found"]);
  expect(failureOf(await call("GET", deleted))).toEqual([404, "item_not_found"]);
}

async function compareContents({ call }: Play, item: ModelItem, version: number, files: string, query: string): Promise<void> {
  const expected = item.versions.get(version)!.files;
  for (const [id, { content }] of expected) {
    const reply = await call("GET", `${files}/${id}/content${query}`);
    expect([reply.status, reply.text]).toEqual([200, new TextDecoder().decode(content.bytes)]);
  }
}

/** Compares the vault: its counts and those of its rows, the lists, and the events. */
export async function compareVault({ call, vault, model }: Play): Promise<void> {
  const expected = usageOf(model);
  const { body: shown } = await call("GET", `/v1/vaults/${vault}`);
  expect([shown.items, shown.contentVersion]).toEqual([expected.items, model.writes]);
  const all = [...model.items.values()];
  const list = await call("GET", `/v1/vaults/${vault}/items`);
  const active = all.filter(({ state, versions, last }) => state === "exists" && !versions.get(last)!.archived);
  expect(list.body.map(({ id }: any) => id).toSorted()).toEqual(active.map(({ id }) => id).toSorted());
  const deleted = await call("GET", `/v1/vaults/${vault}/deleted-items`);
  const gone = all.filter(({ state }) => state === "deleted");
  expect(deleted.body.map(({ id, version }: any) => `${id} ${version}`)).toEqual(
    gone.map(({ id, last }) => `${id} ${last}`).toSorted(),
  );
}

const ROWS = `
  SELECT items, deleted, file_bytes AS fileBytes, sealed_bytes AS bytes,
    (SELECT count(*) FROM item_versions WHERE vault_id = ?1) AS versions FROM vaults WHERE id = ?1`;

/** Compares the counters and the usage with the model, and the events with the writes. */
export async function compareCounters({ call, vault, model }: Play): Promise<void> {
  const { bytes, ...counted } = (await env.DB.prepare(ROWS).bind(vault).first<any>())!;
  expect(counted).toEqual(usageOf(model));
  const vaults = (await admin("GET", "/v1/admin/vaults")).body as any[];
  const { usage } = vaults.find(({ id }) => id === vault);
  expect(usage).toEqual({ items: counted.items + counted.deleted, bytes, fileBytes: counted.fileBytes });
  const { body } = await call("GET", `/v1/vaults/${vault}/events?after=0&limit=1000`);
  const events = body.events.map(({ sequence, type, item, version }: any) => ({ sequence, type, item, version }));
  expect(events).toEqual(model.events.map((event, at) => ({ sequence: at + 1, ...event })));
}
