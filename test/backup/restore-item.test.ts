import { backUp } from "../support/backup.ts";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { bytesOf, freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { restoreOnce } from "../support/restores.ts";
import { client, makeToken } from "../support/service.ts";

/** The restore of one Item (contract 21.28). */

type Fresh = Awaited<ReturnType<typeof freshFile>>;

/** What the answer about an Item has besides its history. */
async function contentOf({ call, path }: Fresh): Promise<unknown> {
  const { version: _, updatedAt: __, createdAt: ___, lastEditedBy: ____, ...content } = (await call("GET", path)).body;
  return content;
}

async function freshBackup() {
  const fresh = await freshFile(pattern(20_000));
  await fresh.call("PATCH", fresh.path, {
    body: [{ op: "add", path: "/fields", value: { id: "f1", label: "key", value: "secret", section: { id: "s" } } }],
  });
  await backUp(fresh.vault);
  return { ...fresh, before: await contentOf(fresh), file: fresh.one.split("/").at(-1)! };
}

describe("the restore of an Item", () => {
  it("makes an Item again that was destroyed, with its Files", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path, before } = fresh;
    const { token } = await makeToken({ [vault]: "rwd" });
    await call("DELETE", path);
    expect(await client(token)("DELETE", `/v1/vaults/${vault}/deleted-items/${item}`)).toMatchObject({ status: 204 });
    await env.FILES.delete(await objectsOf(vault));
    expect(await restoreOnce({ vault, item, dryRun: true })).toMatchObject({
      status: 200,
      body: { state: "planned", existing: "none" },
    });
    expect(await call("GET", path)).toMatchObject({ status: 404 });
    expect(await restoreOnce({ vault, item })).toMatchObject({ status: 200, body: { state: "done", item: { id: item } } });
    expect(await contentOf(fresh)).toEqual(before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
  });

  it("restores a deleted Item, and repeated it changes nothing that matters", async () => {
    const fresh = await freshBackup();
    await fresh.call("DELETE", fresh.path);
    for (const existing of ["deleted", "older"]) {
      expect(await restoreOnce({ vault: fresh.vault, item: fresh.item })).toMatchObject({ status: 200, body: { existing } });
      expect(await contentOf(fresh)).toEqual(fresh.before);
    }
  });

  it("refuses an Item that was changed since; told to, it keeps the newer state as an earlier version", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path, one, before } = fresh;
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Newer" }] });
    await call("PUT", `${one}/content`, { body: pattern(300), headers: lengthOf(pattern(300)) });
    const { version } = (await call("GET", path)).body;
    expect(await restoreOnce({ vault, item })).toMatchObject({ status: 409 });
    expect(await restoreOnce({ vault, item, overwrite: true })).toMatchObject({ status: 200, body: { existing: "newer" } });
    expect(await contentOf(fresh)).toEqual(before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
    expect(await call("GET", `${path}/versions/${version}`)).toMatchObject({ status: 200, body: { title: "Newer" } });
  });

  it("continues after each write that failed", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path } = fresh;
    await call("DELETE", path);
    for (let number = 1; number < 6; number += 2) {
      let left = number;
      const DB = wrapDatabase(env.DB, {
        before: () => (left-- > 0 ? undefined : Promise.reject(new Error("D1_ERROR: is overloaded"))),
      });
      await rebindCoordinator(vault, { DB });
      await restoreOnce({ vault, item });
      await rebindCoordinator(vault, {});
    }
    expect(await restoreOnce({ vault, item })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await contentOf(fresh)).toEqual(fresh.before);
  });

  it("brings the Item back without a File whose content is damaged, and names it", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path } = fresh;
    const { files, ...before } = (await call("GET", path)).body;
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Newer" }] });
    await env.FILES.delete(await objectsOf(vault));
    const [copy] = (await env.BACKUPS.list({ prefix: `contents/${vault}` })).objects;
    await env.BACKUPS.put(copy!.key, "damaged");
    const findings = [{ kind: "content_damaged", vault, item, file: files[0].id, id: copy!.key.slice("contents/".length) }];
    for (const dryRun of [true, false])
      expect(await restoreOnce({ vault, item, overwrite: true, dryRun })).toMatchObject({ status: 200, body: { findings } });
    const after = (await call("GET", path)).body;
    expect(after).toMatchObject({ title: before.title, fields: before.fields });
    expect(after.files ?? []).toEqual([]);
  });

  it("refuses an Item that the snapshot does not have, and an Item without its vault", async () => {
    const { vault, item } = await freshBackup();
    expect(await restoreOnce({ vault, item: crypto.randomUUID() })).toMatchObject({ status: 404 });
    expect(await restoreOnce({ item })).toMatchObject({ status: 400 });
  });
});
