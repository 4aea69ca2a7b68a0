import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { createRequestId } from "../../src/request-id.ts";
import { CASES, damage, type Row } from "../damage/support/rows.ts";
import { backUp } from "../support/backup.ts";
import { coordinatorsWhose, rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { bytesOf, freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { endOfJob, JOBS, runJob, serviceWith, startJob } from "../support/jobs.ts";
import { restore } from "../support/restores.ts";
import { admin, client, makeToken } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { verifyAll } from "../verify/support/verify.ts";

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

/** Deletes the only content in the backup. Returns the finding that names it. */
async function deleteCopy({ vault, item, file }: Awaited<ReturnType<typeof freshBackup>>) {
  const [copy] = (await env.BACKUPS.list({ prefix: `contents/${vault}` })).objects;
  await env.BACKUPS.delete(copy!.key);
  return { kind: "content_missing", vault, item, file, id: copy!.key.slice("contents/".length) };
}

describe("the restore of an Item", () => {
  it("makes an Item again that was destroyed, with its Files", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path, before } = fresh;
    const { token } = await makeToken({ [vault]: "rwd" });
    await call("DELETE", path);
    expect(await client(token)("DELETE", `/v1/vaults/${vault}/deleted-items/${item}`)).toMatchObject({ status: 204 });
    await env.FILES.delete(await objectsOf(vault));
    expect(await restore({ vault, item, dryRun: true })).toMatchObject({
      status: 200,
      body: { existing: "none", items: 1 },
    });
    expect(await call("GET", path)).toMatchObject({ status: 404 });
    expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done", items: 1, vaults: 0 } });
    expect(await contentOf(fresh)).toEqual(before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
  });

  it("restores a deleted Item, and repeated it changes nothing that matters", async () => {
    const fresh = await freshBackup();
    await fresh.call("DELETE", fresh.path);
    for (const existing of ["deleted", "older"]) {
      expect(await restore({ vault: fresh.vault, item: fresh.item })).toMatchObject({ status: 200, body: { existing } });
      expect(await contentOf(fresh)).toEqual(fresh.before);
    }
  });

  it("is in the log in the order of its writes, also when other requests come between them", async () => {
    const { call, vault, item, path } = await freshBackup();
    const { body } = await call("GET", path);
    for (const file of body.files) await call("DELETE", `${path}/files/${file.id}`);
    await call("DELETE", path);
    const service = await serviceWith(
      coordinatorsWhose((real) => ({
        prepareRestore: (contents: never) => real.prepareRestore(contents),
        async write(operation: Operation) {
          await sleep(2);
          createRequestId(Date.now()); // as another request does
          return real.write(operation);
        },
      })),
    );
    expect(await runJob(service, { kind: "restore", vault, item, overwrite: true })).toMatchObject({ state: "done" });
    const { body: entries } = await call("GET", `/v1/activity?item=${item}`);
    const versions = entries.flatMap(({ resource }: { resource: { itemVersion?: number } }) => resource.itemVersion ?? []);
    expect(versions.length).toBeGreaterThan(6);
    expect(versions).toEqual(versions.toSorted((a: number, b: number) => b - a));
  });

  it("refuses an Item that was changed since; told to, it keeps the newer state as an earlier version", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path, one, before } = fresh;
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Newer" }] });
    await call("PUT", `${one}/content`, { body: pattern(300), headers: lengthOf(pattern(300)) });
    const { version } = (await call("GET", path)).body;
    expect(await restore({ vault, item })).toMatchObject({ status: 409 });
    expect(await restore({ vault, item, overwrite: true })).toMatchObject({ status: 200, body: { existing: "newer" } });
    expect(await contentOf(fresh)).toEqual(before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
    expect(await call("GET", `${path}/versions/${version}`)).toMatchObject({ status: 200, body: { title: "Newer" } });
  });

  it.each(CASES.filter(({ table }) => table === "files").map((one) => [one.column, one.fault, one] as const))(
    "repairs the row of a File: %s %s",
    async (_column, _fault, one) => {
      const fresh = await freshBackup();
      const row = (await env.DB.prepare("SELECT * FROM files WHERE id = ?").bind(fresh.file).first<Row>())!;
      await damage(one, row);
      expect(await restore({ vault: fresh.vault, item: fresh.item, overwrite: true })).toMatchObject({ body: { state: "done" } });
      expect(await contentOf(fresh)).toEqual(fresh.before);
      expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
    },
  );

  it("removes a File that does not open and that the snapshot lacks", async () => {
    const fresh = await freshBackup();
    const { body: added } = await fresh.upload(pattern(10));
    await env.DB.prepare("UPDATE files SET size = 1 WHERE id = ?").bind(added.id).run();
    expect(await restore({ vault: fresh.vault, item: fresh.item })).toMatchObject({ status: 409 });
    expect(await restore({ vault: fresh.vault, item: fresh.item, overwrite: true })).toMatchObject({ body: { state: "done" } });
    expect(await contentOf(fresh)).toEqual(fresh.before);
  });

  it("repairs the row of a File of an Item whose own row is lost", async () => {
    const fresh = await freshBackup();
    await env.DB.prepare("UPDATE files SET size = 1 WHERE id = ?").bind(fresh.file).run();
    await env.DB.prepare("DELETE FROM items WHERE id = ?").bind(fresh.item).run();
    expect(await restore({ vault: fresh.vault, item: fresh.item })).toMatchObject({ body: { state: "done" } });
    expect(await contentOf(fresh)).toEqual(fresh.before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
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
      const service = await serviceWith({});
      const id = await startJob(service, { kind: "restore", vault, item });
      await vi.waitFor(async () => {
        const { body } = await admin("GET", `${JOBS}/${id}`, { env: service.bindings });
        expect(body.reason ?? body.endedAt).toBeDefined();
      }, UNDER_LOAD);
      await rebindCoordinator(vault, {});
      expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
      expect(await contentOf(fresh)).toEqual(fresh.before);
      await call("DELETE", path);
    }
  });

  it("brings an Item that is not there back without a File whose content is missing, and names it", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path } = fresh;
    const { title, fields } = (await call("GET", path)).body;
    await call("DELETE", path);
    const { token } = await makeToken({ [vault]: "rwd" });
    expect(await client(token)("DELETE", `/v1/vaults/${vault}/deleted-items/${item}`)).toMatchObject({ status: 204 });
    await env.FILES.delete(await objectsOf(vault));
    const findings = [await deleteCopy(fresh)];
    for (const dryRun of [true, false])
      expect(await restore({ vault, item, dryRun })).toMatchObject({ status: 200, body: { findings } });
    const after = (await call("GET", path)).body;
    expect(after).toMatchObject({ title, fields });
    expect(after.files ?? []).toEqual([]);
  });

  it("leaves a File as it is whose content is missing in the snapshot, and names it", async () => {
    const fresh = await freshBackup();
    const { vault, item, call, path, one, before } = fresh;
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Newer" }] });
    await call("PUT", `${one}/content`, { body: pattern(300), headers: lengthOf(pattern(300)) });
    const newer = (await call("GET", path)).body.files;
    const [content] = (await env.BACKUPS.list({ prefix: `contents/${vault}` })).objects;
    await env.FILES.delete(content!.key.slice("contents/".length));
    const findings = [await deleteCopy(fresh)];
    for (const dryRun of [true, false])
      expect(await restore({ vault, item, overwrite: true, dryRun })).toMatchObject({ status: 200, body: { findings } });
    expect(await contentOf(fresh)).toEqual({ ...(before as object), files: newer });
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(300));
  });

  it("leaves a File as it is whose row does not open in the snapshot, and names it", async () => {
    const fresh = await freshFile(pattern(20_000));
    const { vault, item, call, path, file } = fresh;
    const sealed = await env.DB.prepare("SELECT sealed FROM files WHERE id = ?").bind(file.id).first("sealed");
    const put = (text: unknown) => env.DB.prepare("UPDATE files SET sealed = ?2 WHERE id = ?1").bind(file.id, text).run();
    await put("AA".repeat(100));
    await backUp(vault);
    await put(sealed);
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Newer" }] });
    const findings = [{ kind: "row_unreadable", table: "files", vault, item, file: file.id }];
    expect(await restore({ vault, item, overwrite: true })).toMatchObject({ status: 200, body: { findings } });
    expect((await call("GET", path)).body).toMatchObject({ title: "Login", files: [{ id: file.id }] });
    expect(await bytesOf(await fresh.download(file.id))).toEqual(pattern(20_000));
  });

  it("brings a File back whose row was lost, of an Item that is as the snapshot has it", async () => {
    const fresh = await freshBackup();
    const { vault, item, before } = fresh;
    await env.DB.prepare("DELETE FROM files WHERE vault_id = ?").bind(vault).run();
    await rebindCoordinator(vault, {});
    expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    expect(await contentOf(fresh)).toEqual(before);
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
  });

  it("does not read a content that FILES has, and a verify repairs a damaged one", async () => {
    const fresh = await freshBackup();
    const { vault, item } = fresh;
    const [key] = await objectsOf(vault);
    const bytes = new Uint8Array(await (await env.FILES.get(key!))!.arrayBuffer());
    await env.FILES.put(key!, bytes.with(bytes.length - 100, bytes.at(-100)! ^ 1));
    expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    await verifyAll({ vault, repair: true });
    expect(await bytesOf(await fresh.download(fresh.file))).toEqual(pattern(20_000));
  });

  it("refuses an Item that the snapshot does not have, and an Item without its vault", async () => {
    const { vault, item } = await freshBackup();
    expect(await restore({ vault, item: crypto.randomUUID() })).toMatchObject({ status: 404 });
    expect(await restore({ item })).toMatchObject({ status: 400 });
  });
});
