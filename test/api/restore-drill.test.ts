import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { currentTag, tagAt } from "../support/etags.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, pattern } from "../support/files.ts";
import { passDays, snapshotDatabase } from "../support/restore.ts";
import { admin, type Client, client, fetchRaw, LOGIN, makeToken, type Reply } from "../support/service.ts";

/**
 * A drill of docs/operations.md, Restore: D1 is restored to an earlier minute, used for days, and put forward again. R2, the
 * coordinators and their caches stay as they are.
 */

const CONTENTS = {
  kept: 1000,
  before: 2000,
  after: 3000,
  deleted: 4000,
  gone: 5000,
  added: 6000,
  late: 7000,
  restored: 8000,
  dropped: 9000,
};
type Content = keyof typeof CONTENTS;
const contentOf = (name: Content) => pattern(CONTENTS[name]);

/** Sends requests as the Worker does after TOKENS_NOT_BEFORE was set and a new token was issued. */
interface Access {
  readonly call: Client;
  readonly download: (path: string) => Promise<Uint8Array | number>;
}

let item: Awaited<ReturnType<typeof freshItem>>;
let gone: typeof item;
let late: typeof item;
/** The paths of the Files. */
const files = {} as Record<Exclude<Content, "before" | "after"> | "replaced", string>;
let revoked: { id: string; token: string };
let redo: () => Promise<void>;
let notBefore: Partial<Env>;
/** Answers with the Item, by its version, in the order in which the writes were acknowledged. */
const first: Reply[] = [];
const second: Reply[] = [];

const patch = (call: Client, title: string, headers: Record<string, string> = {}) =>
  call("PATCH", item.path, { body: [{ op: "replace", path: "/title", value: title }], headers });
const KEY = { "Idempotency-Key": "key" };
const tagsOf = (replies: readonly Reply[]) => replies.map(({ headers }) => headers.get("ETag")!);

async function upload(to: typeof item, name: Content, call: Client = to.call): Promise<string> {
  const { status, body } = await call("POST", `${to.files}?name=${name}`, {
    body: contentOf(name),
    headers: lengthOf(contentOf(name)),
  });
  expect(status).toBe(200);
  return `${to.files}/${body.id}`;
}

/** Step 1 and 4 of the runbook: refuses all tokens from before, and issues a new one. */
async function invalidateTokens(): Promise<void> {
  advanceClock(60_000);
  notBefore = { TOKENS_NOT_BEFORE: new Date().toISOString() };
  advanceClock(60_000);
}

async function newAccess(...vaults: readonly string[]): Promise<Access> {
  const { token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "rw"])));
  const call: Client = (method, path, request = {}) => client(token)(method, path, { ...request, env: notBefore });
  const headers = { Authorization: `Bearer ${token}` };
  const download = async (path: string) => {
    const response = await fetchRaw("GET", `${path}/content`, { headers, env: notBefore });
    return response.status === 200 ? bytesOf(response) : response.status;
  };
  return { call, download };
}

/** Runs the alarms of all vaults and the cron trigger on each of some days. */
async function passDaysOfAll(days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    await passDays(item.vault, 1);
    for (const { vault } of [gone, late]) await passDays(vault, 0.001);
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
  }
}

beforeAll(async () => {
  [item, gone] = [await freshItem(), await freshItem()];
  revoked = await makeToken({ [item.vault]: "rw" });
  for (const name of ["kept", "deleted", "dropped"] as const) files[name] = await upload(item, name);
  files.replaced = await upload(item, "before");
  files.gone = await upload(gone, "gone");
  const undo = await snapshotDatabase();

  // What the restore takes back: versions 6 to 12 of the Item, the creation and the deletion of a vault, a revocation.
  advanceClock(HOUR);
  first.push(await patch(item.call, "first history", KEY));
  await item.call("DELETE", files.deleted);
  await item.call("PUT", `${files.replaced}/content`, { body: contentOf("after"), headers: lengthOf(contentOf("after")) });
  files.added = await upload(item, "added");
  first.push(await patch(item.call, "first history, again"));
  for (const title of ["first history, later", "first history, last"]) first.push(await patch(item.call, title));
  await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
  await admin("DELETE", `/v1/admin/vaults/${gone.vault}`);
  late = await freshItem();
  files.late = await upload(late, "late");
  advanceClock(HOUR);
  redo = await snapshotDatabase();
  await invalidateTokens();
  await undo();
});

afterAll(() => {
  vi.useRealTimers();
});

/** Checks the contents of Files byte for byte. */
async function expectContents(access: Access, contents: Partial<Record<keyof typeof files, Content>>): Promise<void> {
  for (const [file, content] of Object.entries(contents)) {
    expect([file, await access.download(files[file as keyof typeof files])]).toEqual([file, contentOf(content)]);
  }
}

/** Checks that the tags of another history give no 304 and meet no If-Match. */
async function expectStrangers(call: Client, tags: readonly string[]): Promise<void> {
  const current = (await call("GET", item.path)).body;
  for (const tag of tags) {
    const read = await call("GET", item.path, { headers: { "If-None-Match": tag } });
    expect([read.status, read.body]).toEqual([200, current]);
    expect((await patch(call, "stale", { "If-Match": tag })).status).toBe(412);
  }
  expect((await call("GET", item.path)).body).toEqual(current);
}

describe("after the restore", () => {
  const RESTORED = { kept: "kept", replaced: "before", deleted: "deleted", gone: "gone" } as const;
  let access: Access;

  beforeAll(async () => {
    access = await newAccess(item.vault, gone.vault);
  });

  it("tokens from before are refused, also one that the restore brought back after its revocation", async () => {
    const asRevoked = client(revoked.token);
    expect((await asRevoked("GET", item.path)).status).toBe(200);
    expect((await asRevoked("GET", item.path, { env: notBefore })).status).toBe(401);
    expect((await item.call("GET", item.path, { env: notBefore })).status).toBe(401);
  });

  it("every content of that minute is there, also of a deleted File, a replaced content and a deleted vault", async () => {
    await expectContents(access, { ...RESTORED, dropped: "dropped" });
  });

  it("a write is applied to the restored Item, although the coordinator has cached rows of the other history", async () => {
    const { body: restored } = await access.call("GET", item.path);
    expect([restored.version, restored.title]).toEqual([5, LOGIN.title]);
    const reply = await access.call("PATCH", item.path, { body: [{ op: "add", path: "/tags/-", value: "second history" }] });
    expect(reply.body).toMatchObject({ version: 6, title: LOGIN.title, tags: ["second history"], files: restored.files });
    second.push(reply);
  });

  it("an Item that another history wrote later gives no 304 and meets no If-Match", async () => {
    await expectStrangers(access.call, tagsOf(first));
  });

  it("an Idempotency-Key that the lost history used is free, and has one effect", async () => {
    const [reply, again] = [await patch(access.call, "second history", KEY), await patch(access.call, "second history", KEY)];
    expect([reply.body.version, again.body]).toEqual([7, reply.body]);
    second.push(reply);
  });

  it("versions with the numbers of the lost history have other tags", async () => {
    files.restored = await upload(item, "restored", access.call);
    expect((await access.call("DELETE", files.dropped)).status).toBe(204);
    second.push(await patch(access.call, "second history, again"));
    second.push(await patch(access.call, "second history, last"));
    second.push(await patch(access.call, "met", { "If-Match": tagsOf(second).at(-1)! }));
    const numbers = second.map(({ body }) => body.version);
    expect(tagsOf(second)).toEqual(numbers.map(tagAt));
    expect(numbers).toEqual(expect.arrayContaining(first.map(({ body }) => body.version)));
    await expectStrangers(access.call, tagsOf(first));
  });

  it("the counts of the vault are those of the restored minute and the writes since", async () => {
    const { body: vault } = await access.call("GET", `/v1/vaults/${item.vault}`);
    expect(vault).toMatchObject({ items: 1, contentVersion: 12 });
    expect((await access.call("GET", item.items)).body).toMatchObject([{ version: 12, title: "met" }]);
  });

  it("every content is there after 20 days of alarms", async () => {
    await passDaysOfAll(20);
    await expectContents(access, { ...RESTORED, restored: "restored" });
  });
});

describe("after the restore was undone 20 days later", () => {
  let access: Access;
  let before: Client;

  beforeAll(async () => {
    before = (await newAccess(item.vault)).call;
    await redo();
    access = await newAccess(item.vault, late.vault);
  });

  it("tokens from before and from the restored time are refused", async () => {
    for (const call of [client(revoked.token), item.call, before]) {
      expect((await call("GET", item.path, { env: notBefore })).status).toBe(401);
    }
  });

  it("the Item is as the first history left it, with its tag: a 304 and no change", async () => {
    const last = first.at(-1)!;
    const reply = await access.call("GET", item.path);
    expect([reply.body, await currentTag(access.call, item.path)]).toEqual([last.body, last.headers.get("ETag")]);
    const cached = await access.call("GET", item.path, { headers: { "If-None-Match": last.headers.get("ETag")! } });
    expect(cached.status).toBe(304);
  });

  it("a write is applied to the Item of the first history, although the coordinator has cached the same versions of the other", async () => {
    const last = first.at(-1)!;
    expect(second.at(-1)!.body.version).toBe(last.body.version);
    const reply = await access.call("PATCH", item.path, { body: [{ op: "add", path: "/tags/-", value: "later" }] });
    expect(reply.body).toMatchObject({ version: last.body.version + 1, title: last.body.title, tags: ["later"] });
    expect((await access.call("GET", item.path)).body).toEqual(reply.body);
  });

  it("an Item that the restored time wrote gives no 304 and meets no If-Match", async () => {
    await expectStrangers(access.call, tagsOf(second));
  });

  it("every acknowledged content is there, also of a File that the restored time deleted, and also after 40 more days of alarms", async () => {
    for (const days of [0, 40]) {
      await passDaysOfAll(days);
      await expectContents(access, { kept: "kept", replaced: "after", added: "added", late: "late", dropped: "dropped" });
    }
  });
});
