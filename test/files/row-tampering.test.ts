import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { keyOf, type Place, SEALED_BYTES } from "../support/faults.ts";
import { freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { sample } from "../support/runs.ts";
import { client, makeToken } from "../support/service.ts";
import { runSql } from "../support/sql.ts";

/**
 * The row of a File opens only in the place for which it was sealed, even if its object was copied to the other place. One that does not open
 * costs its Item nothing else (contract 9.14).
 */

const INTEGRITY = { status: 500, message: "integrity: a stored record is damaged or was moved, and cannot be decrypted" };
const BYTES = pattern(1000);

let at: Place;
let one: string;
let two: string;

beforeEach(async () => {
  at = await freshItem();
  [one, two] = [(await at.upload(BYTES)).body.id, (await at.upload(BYTES)).body.id];
});

async function copyObject(from: string, to: string) {
  await env.FILES.put(to, await (await env.FILES.get(from))!.arrayBuffer());
}

/**
 * Expects that the File, its content and a replacement of the content are answered 500 `integrity`, and that the Item is served without the
 * File, and names it (contract 9.14). In: the other Files of the Item.
 */
async function expectIntegrityFailures(file: string, { path, files, call, download } = at, others = [one, two]): Promise<void> {
  const sound = others.filter((id) => id !== file);
  for (const each of [`${files}/${file}`, `${files}/${file}?inline_files=true`])
    expect([each, (await call("GET", each)).body]).toEqual([each, INTEGRITY]);
  const item = await call("GET", path);
  expect(item).toMatchObject({ status: 200, body: { brokenFiles: [file] } });
  const lists = [await call("GET", files), await call("GET", `${files}?inline_files=true`)];
  for (const list of [item.body.files, ...lists.map(({ body }) => body)])
    expect(list.map(({ id }: { id: string }) => id).toSorted()).toEqual(sound.toSorted());
  for (const { headers } of [item, ...lists]) expect(headers.get("Item-Vault-Broken")).toBe("1");
  const response = await download(file);
  expect([response.status, await response.json()]).toEqual([500, INTEGRITY]);
  const replaced = await call("PUT", `${files}/${file}/content`, { body: BYTES, headers: lengthOf(BYTES) });
  expect(replaced.body).toEqual(INTEGRITY);
}

/** An Item as GET answers it: its version and the ids of its Files. */
const namesOf = async (path = at.path) => {
  const { status, body } = await at.call("GET", path);
  return {
    status,
    version: body.version,
    files: body.files.map(({ id }: { id: string }) => id),
    brokenFiles: body.brokenFiles,
  };
};
const kept = (version: number) => ({ status: 200, version, files: [two], brokenFiles: [one] });

/** By how much the counts in the row of the vault differ from its rows. */
async function wrongCounts(): Promise<unknown> {
  const files = "files - (SELECT count(*) FROM files WHERE vault_id = ?1) AS files";
  const row = env.DB.prepare(`SELECT ${files}, sealed_bytes - (${SEALED_BYTES}) AS bytes FROM vaults WHERE id = ?1`);
  return row.bind(at.vault).first();
}

const restoreVersion = (version: number) => at.call("POST", `${at.path}/versions/${version}/restore`);

const answered = ({ body }: Awaited<ReturnType<typeof restoreVersion>>) => ({
  files: body.files.map(({ id }: { id: string }) => id).toSorted(),
  brokenFiles: body.brokenFiles,
});

/** Changes of the row of the first File, by their names. An object is copied to where the changed row says that it is. */
const CHANGES: Readonly<Record<string, () => Promise<unknown>>> = {
  "with the sealed text of another File": () =>
    runSql("UPDATE files SET sealed = (SELECT sealed FROM files WHERE id = ?1) WHERE id = ?2", two, one),
  "as a copy of another File's row under this File's id": async () => {
    const from = await keyOf(at.vault, two);
    const columns = "(generation, size, sealed)";
    await runSql(
      `UPDATE files SET ${columns} = (SELECT generation, size, sealed FROM files WHERE id = ?1) WHERE id = ?2`,
      two,
      one,
    );
    await copyObject(from, await keyOf(at.vault, one));
  },
  ...Object.fromEntries(
    [0, 999, 1001].map((size) => [
      `with another size: ${size}`,
      () => runSql("UPDATE files SET size = ?1 WHERE id = ?2", size, one),
    ]),
  ),
  "with another generation": async () => {
    const from = await keyOf(at.vault, one);
    await runSql("UPDATE files SET generation = ?1 WHERE id = ?2", crypto.randomUUID(), one);
    await copyObject(from, await keyOf(at.vault, one));
  },
  "with an older generation and the sealed text of the newer one": async () => {
    const old = await env.DB.prepare("SELECT generation FROM files WHERE id = ?").bind(one).first("generation");
    await at.call("PUT", `${at.files}/${one}/content`, { body: BYTES, headers: lengthOf(BYTES) });
    await runSql("UPDATE files SET generation = ?1 WHERE id = ?2", old, one);
  },
};

describe("the row of a File", () => {
  it.each(Object.entries(CHANGES))("does not open %s", async (_, change) => {
    await change();
    await expectIntegrityFailures(one);
  });

  it("does not open in another Item of the vault; the Item from which it was taken is still served", async () => {
    const { body: item } = await at.call("POST", at.items, { body: { title: "Other", category: "DOCUMENT" } });
    await runSql("UPDATE files SET item_id = ?1 WHERE id = ?2", item.id, one);
    const path = `${at.items}/${item.id}`;
    const download: Place["download"] = (file, request) => at.download(`../../${item.id}/files/${file}`, request);
    await expectIntegrityFailures(one, { ...at, path, files: `${path}/files`, download }, []);
    expect((await namesOf()).files).toEqual([two]);
  });

  it("does not open in another vault", async () => {
    const other = await freshItem();
    const key = await keyOf(at.vault, one);
    await runSql("UPDATE files SET vault_id = ?1, item_id = ?2 WHERE id = ?3", other.vault, other.item, one);
    await copyObject(key, await keyOf(other.vault, one));
    await expectIntegrityFailures(one, other, []);
  });

  it("does not open under another id", async () => {
    const id = crypto.randomUUID();
    const key = await keyOf(at.vault, one);
    await runSql("UPDATE files SET id = ?1 WHERE id = ?2", id, one);
    await copyObject(key, await keyOf(at.vault, id));
    await expectIntegrityFailures(id, at, [two]);
  });

  it("does not open after a change of any one character of its sealed text", async () => {
    const sealed = (await env.DB.prepare("SELECT sealed FROM files WHERE id = ?").bind(one).first<string>("sealed"))!;
    const places = Array.from({ length: sealed.replaceAll("=", "").length - 1 }, (_, index) => index);
    for (const index of sample(places, 8)) {
      const changed = sealed.slice(0, index) + (sealed[index] === "A" ? "B" : "A") + sealed.slice(index + 1);
      await runSql("UPDATE files SET sealed = ?1 WHERE id = ?2", changed, one);
      expect([index, (await at.call("GET", `${at.files}/${one}`)).body]).toEqual([index, INTEGRITY]);
    }
  });

  describe("that does not open", () => {
    beforeEach(() => runSql("UPDATE files SET size = 1 WHERE id = ?1", one));

    const EDIT = [{ op: "replace", path: "/title", value: "Renamed" }];
    const WRITES: [string, () => Promise<{ status: number }>][] = [
      ["PATCH", () => at.call("PATCH", at.path, { body: EDIT })],
      ["PUT", async () => at.call("PUT", at.path, { body: (await at.call("GET", at.path)).body })],
      ["archiving", () => at.call("POST", `${at.path}/archive`)],
      ["a restored version", () => at.call("POST", `${at.path}/versions/3/restore`)],
      [
        "a new content of another File",
        () => at.call("PUT", `${at.files}/${two}/content`, { body: BYTES, headers: lengthOf(BYTES) }),
      ],
    ];
    it.each(WRITES)("stays with its Item and its versions: %s", async (_, write) => {
      await at.call("PATCH", at.path, { body: EDIT });
      const { version } = await namesOf();
      expect((await write()).status).toBe(200);
      expect(await namesOf()).toEqual(kept(version + 1));
      expect(await namesOf(`${at.path}/versions/${version}`)).toEqual(kept(version));
    });

    it("is named in the dialect connect in the form of its ids", async () => {
      const connect = client((await makeToken({ [at.vault]: "r" }, { dialect: "connect" })).token);
      const { body, headers } = await connect("GET", at.path);
      const [sound, damaged] = [two, one].map((id) => writeId(id, "connect"));
      expect([body.files, body.brokenFiles]).toMatchObject([[{ id: sound }], [damaged]]);
      expect(headers.get("Item-Vault-Broken")).toBe("1");
    });

    it("fails the references that may name it, and no other", async () => {
      await at.call("PATCH", at.path, { body: [{ op: "add", path: "/fields", value: { label: "key", value: "v" } }] });
      const parts = ["key", two, writeId(two, "connect"), one, "f", "none"];
      const references = parts.map((part) => `op://${at.vault}/${at.item}/${part}?attribute=label`);
      const { body } = await at.call("POST", "/v1/resolve", { body: { references } });
      const outcomes = body.values.map(({ status, value }: { status?: number; value?: string }) => status ?? value);
      expect(outcomes).toEqual(["key", "f", "f", 500, 500, 500]);
    });

    it("is answered as one that opens, once its row is as it was, also by writes", async () => {
      const edits = ["a", "b", "c"].map((value) => [{ op: "replace", path: "/title", value }]);
      const write = async (place: number) => (await at.call("PATCH", at.path, { body: edits[place] })).body.brokenFiles;
      expect(await write(0)).toEqual([one]);
      await runSql("UPDATE files SET size = ?1 WHERE id = ?2", BYTES.length, one);
      const broken = [await write(1), (await namesOf()).brokenFiles, await write(2)];
      expect(broken).toEqual([undefined, undefined, undefined]);
      expect([(await namesOf()).files.toSorted(), (await at.download(one)).status]).toEqual([[one, two].toSorted(), 200]);
    });

    it("has no 304, because its Item has the same tag when it opens again", async () => {
      const { headers } = await at.call("GET", at.path);
      const request = { headers: { "If-None-Match": headers.get("ETag")! } };
      expect((await at.call("GET", at.path, request)).status).toBe(200);
      await runSql("UPDATE files SET size = ?1 WHERE id = ?2", BYTES.length, one);
      expect((await at.call("GET", at.path, request)).status).toBe(304);
    });

    it("is a 500 integrity for the repeated upload that has made it, and the second content is not kept", async () => {
      const request = { headers: { "Idempotency-Key": crypto.randomUUID() } };
      const { body } = await at.upload(BYTES, "?name=g", request);
      await runSql("UPDATE files SET size = 1 WHERE id = ?1", body.id);
      const before = await objectsOf(at.vault);
      expect((await at.upload(BYTES, "?name=g", request)).body).toEqual(INTEGRITY);
      expect(await objectsOf(at.vault)).toEqual(before);
    });

    it("is deleted under an id whose case is damaged", async () => {
      await runSql("UPDATE files SET id = upper(id) WHERE id = ?1", one);
      expect((await namesOf()).brokenFiles).toEqual([one.toUpperCase()]);
      expect((await at.call("DELETE", `${at.files}/${one}`)).status).toBe(204);
      expect((await namesOf()).brokenFiles).toBeUndefined();
    });

    it("is deleted by DELETE, and the versions before name it", async () => {
      const { version } = await namesOf();
      expect((await at.call("DELETE", `${at.files}/${one}`)).status).toBe(204);
      expect(await namesOf()).toEqual({ status: 200, version: version + 1, files: [two], brokenFiles: undefined });
      expect(await namesOf(`${at.path}/versions/${version}`)).toEqual(kept(version));
      expect((await at.call("DELETE", `${at.files}/${one}`)).status).toBe(404);
    });

    it("returns with its deleted Item", async () => {
      const { version } = await namesOf();
      await at.call("DELETE", at.path);
      expect(await namesOf(at.path.replace("/items/", "/deleted-items/"))).toEqual(kept(version));
      expect((await at.call("POST", `${at.path.replace("/items/", "/deleted-items/")}/restore`)).status).toBe(200);
      expect(await namesOf()).toEqual(kept(version + 1));
    });
  });

  it.each([0, 1])(
    "with the generation of another File costs that one no restore of a version, and no count is wrong: %i",
    async (place) => {
      await at.upload(BYTES); // version 4
      const [damaged, sound] = place === 0 ? [one, two] : [two, one];
      await runSql("UPDATE files SET generation = (SELECT generation FROM files WHERE id = ?1) WHERE id = ?2", sound, damaged);
      const restored = await at.call("POST", `${at.path}/versions/3/restore`);
      const names = { files: [sound], brokenFiles: [damaged] };
      expect(restored).toMatchObject({ status: 200, body: { files: [{ id: sound }], brokenFiles: [damaged] } });
      expect(await namesOf()).toMatchObject(names);
      expect(await wrongCounts()).toEqual({ files: 0, bytes: 0 });
    },
  );

  describe("of a version, when another row has the same content", () => {
    beforeEach(async () => {
      await at.call("DELETE", `${at.files}/${one}`); // version 4; version 3 has both
      await restoreVersion(3); // version 5, whose row has the same content as that of version 3
    });

    it("that does not open, is answered as what the Item then has", async () => {
      await runSql("UPDATE files SET size = 1 WHERE id = ?1", one);
      expect((await namesOf(`${at.path}/versions/3`)).brokenFiles).toBeUndefined();
      const restored = answered(await restoreVersion(3));
      const { files, brokenFiles } = await namesOf();
      expect(restored).toEqual({ files, brokenFiles });
    });

    it("is the row that returns", async () => {
      await at.call("DELETE", `${at.files}/${one}`); // version 6
      await runSql("UPDATE file_versions SET size = 1 WHERE id = ?1 AND until = 4", one);
      expect(answered(await restoreVersion(5))).toEqual({ files: [one, two].toSorted(), brokenFiles: undefined });
      expect((await namesOf()).brokenFiles).toBeUndefined();
      expect((await at.download(one)).status).toBe(200);
    });
  });

  it("that does not open neither breaks the list of Items nor prevents the deletion of its Item", async () => {
    await runSql("UPDATE files SET size = 1 WHERE id = ?1", one);
    expect((await at.call("GET", at.items)).body).toHaveLength(1);
    expect((await at.call("DELETE", at.path)).status).toBe(204);
    expect((await at.call("GET", at.items)).body).toEqual([]);
  });
});
