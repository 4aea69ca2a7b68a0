import { describe, expect, it } from "vitest";
import { bytesOf, freshFile, freshItem, itemIn, pattern } from "../support/files.ts";
import { fetchRaw, LOGIN, shareVault } from "../support/service.ts";

/** The attributes of a File, alone and in its Item (contract 2.2, 9.1). */

const sharedVault = shareVault();
/** A new Item in the vault that the tests share. */
const newItem = async () => itemIn(await sharedVault());

const DIALECTS = [
  ["uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, ""],
  ["connect", /^[a-z2-7]{26}$/, "/"],
] as const;

describe.each(DIALECTS)("a File in the dialect %s", (dialect, form, slash) => {
  it("has these attributes and no others", async () => {
    const { upload, call, files, path } = await freshItem(dialect);
    const item = (await call("GET", path)).body;
    const file = (await upload(pattern(12), "?name=a.txt&section=s")).body;
    expect(file).toStrictEqual({
      id: expect.stringMatching(form),
      name: "a.txt",
      size: 12,
      content_path: `${slash}v1/vaults/${item.vault.id}/items/${item.id}/files/${file.id}/content`,
      section: { id: "s" },
    });
    expect((await call("GET", `${files}/${file.id}`)).body).toStrictEqual(file);
    expect((await call("GET", files)).body).toStrictEqual([file]);
  });

  it("has a content_path that leads to the content", async () => {
    const { file, token } = await freshFile(pattern(5), dialect);
    const path = `/${file.content_path}`.replace("//", "/");
    expect(await bytesOf(await fetchRaw("GET", path, { headers: { Authorization: `Bearer ${token}` } }))).toEqual(pattern(5));
  });

  it("is found by ids in both forms", async () => {
    const own = await freshFile(pattern(5), dialect);
    const { vault, id } = (await own.call("GET", own.path)).body;
    for (const [v, i] of [
      [vault.id, id],
      [own.vault, id],
      [vault.id, own.item],
    ] as const) {
      expect((await own.call("GET", `/v1/vaults/${v}/items/${i}/files/${own.file.id}`)).body).toEqual(own.file);
    }
  });
});

describe("the Files of an Item", () => {
  it("are the same in the answers to GET, PUT and PATCH of the Item and in the list of Files", async () => {
    for (const [dialect] of DIALECTS) {
      const { upload, call, path, files, vault } = await freshFile(pattern(1), dialect);
      await upload(pattern(2), "?name=g");
      await upload(pattern(3), "?name=h");
      const list = (await call("GET", files)).body;
      expect(list.length).toBe(3);
      const put = { ...LOGIN, vault: { id: vault }, sections: [{ id: "s" }] };
      expect((await call("GET", path)).body.files).toStrictEqual(list);
      expect((await call("PUT", path, { body: put })).body.files).toStrictEqual(list);
      const patch = [{ op: "replace", path: "/title", value: "x" }];
      expect((await call("PATCH", path, { body: patch })).body.files).toStrictEqual(list);
      expect((await call("PATCH", path, { body: [] })).body.files).toStrictEqual(list);
      expect((await call("GET", path)).body.files).toStrictEqual(list);
    }
  });

  it("are not in a summary", async () => {
    const { call, items } = await freshFile();
    expect((await call("GET", items)).body[0]).not.toHaveProperty("files");
  });

  it("are an empty array when there are none", async () => {
    const { call, path, files } = await newItem();
    expect([(await call("GET", path)).body.files, (await call("GET", files)).body]).toEqual([[], []]);
  });

  it("keep their contents when PUT and PATCH replace the Item", async () => {
    const { call, path, vault, download, file } = await freshFile(pattern(33));
    await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } });
    await call("PATCH", path, { body: [{ op: "replace", path: "/", value: { ...LOGIN, vault: { id: vault } } }] });
    expect(await bytesOf(await download(file.id))).toEqual(pattern(33));
  });

  it.each([
    ["none", []],
    ["another", [{ id: crypto.randomUUID(), name: "forged", size: 1, content_path: "x" }]],
    ["nonsense", "nonsense"],
    ["null", null],
  ])("are ignored in the bodies of PUT, of PATCH with the path / and of POST: %s", async (_, files) => {
    const { call, path, items, vault, file } = await freshFile();
    const body = { ...LOGIN, vault: { id: vault }, sections: [{ id: "s" }], files };
    expect((await call("PUT", path, { body })).body.files).toEqual([file]);
    expect((await call("PATCH", path, { body: [{ op: "replace", path: "/", value: body }] })).body.files).toEqual([file]);
    expect((await call("POST", items, { body })).body.files).toEqual([]);
  });

  it("cannot be changed by the paths of a PATCH", async () => {
    const { call, path } = await freshFile();
    for (const target of ["/files", "/files/0", "/files/-"]) {
      expect((await call("PATCH", path, { body: [{ op: "remove", path: target }] })).status).toBe(400);
    }
  });

  it("stay unchanged when an Item is sent back as it was read", async () => {
    const { call, path, file } = await freshFile();
    const item = (await call("GET", path)).body;
    expect((await call("PUT", path, { body: item })).body).toMatchObject({ files: [file], sections: item.sections, version: 3 });
  });

  it("keep their section and its label when a PUT does not name it (contract 2.20)", async () => {
    const { call, path, vault, upload } = await freshItem();
    const section = { id: "s", label: "Scans" };
    await call("PATCH", path, { body: [{ op: "add", path: "/sections", value: [section, { id: "t", label: "Gone" }] }] });
    await upload(pattern(1), "?name=f&section=s");
    expect((await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } })).body.sections).toEqual([section]);
  });

  it("name only declared sections, also after a PUT without their section and a PATCH that removes it", async () => {
    const { call, path, vault } = await freshFile();
    const declared = async (method: string, body: unknown) => {
      const item = (await call(method, path, { body })).body;
      const ids = new Set(item.sections.map(({ id }: { id: string }) => id));
      return item.files.every((file: { section?: { id: string } }) => !file.section || ids.has(file.section.id));
    };
    expect(await declared("PUT", { ...LOGIN, vault: { id: vault } })).toBe(true);
    expect(await declared("PATCH", [{ op: "remove", path: "/sections" }])).toBe(true);
  });
});

describe("a DOCUMENT Item", () => {
  it("is created without Files and then gets one by an upload", async () => {
    const { call, items } = await newItem();
    const { body: item } = await call("POST", items, { body: { title: "Passport scan", category: "DOCUMENT" } });
    expect([item.category, item.files]).toEqual(["DOCUMENT", []]);
    const { body: file } = await call("POST", `${items}/${item.id}/files?name=scan.pdf`, { body: pattern(1_000) });
    const { body: read } = await call("GET", `${items}/${item.id}`);
    expect([read.category, read.files]).toEqual(["DOCUMENT", [file]]);
  });
});
