import { buffer } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { attach, type Fresh, freshVault, makeItems } from "./support/vault.ts";

/** A vault with an Item, and the File that it has. */
async function withFile(bytes: string | Uint8Array, query?: string) {
  const fresh = await freshVault("The vault");
  const [item] = await makeItems(fresh, "The Item");
  return { ...fresh, item: item!, file: await attach(fresh, item!, bytes, query) };
}

/** All bytes of the stream that the SDK gives. */
const streamed = async ({ op, vault, item, file }: Fresh & { item: string; file: string }) =>
  buffer((await op.getFileContentStream(vault, item, file)) as Readable);

describe("listFiles", () => {
  it("gives all that there is to know of a File", async () => {
    const { op, vault, item, file } = await withFile("12345", `name=${encodeURIComponent("Größe & Co.txt")}&section=papers`);
    expect(await op.listFiles(vault, item)).toEqual([
      {
        id: file,
        name: "Größe & Co.txt",
        size: 5,
        content_path: `/v1/vaults/${vault}/items/${item}/files/${file}/content`,
        section: { id: "papers" },
      },
    ]);
  });

  it("gives the Files that the Item has", async () => {
    const fresh = await withFile("one", "name=a");
    await attach(fresh, fresh.item, "two", "name=b");
    const files = await fresh.op.listFiles(fresh.vault, fresh.item);
    expect(files.map(({ name }) => name!).toSorted()).toEqual(["a", "b"]);
    expect((await fresh.op.getItemById(fresh.vault, fresh.item)).files).toEqual(files);
  });

  it("is empty for an Item without", async () => {
    const fresh = await freshVault();
    const [item] = await makeItems(fresh, "Bare");
    expect(await fresh.op.listFiles(fresh.vault, item!)).toEqual([]);
  });
});

describe("getFileById", () => {
  it("gives what listFiles gives", async () => {
    const { op, vault, item, file } = await withFile("12345");
    expect([await op.getFileById(vault, item, file)]).toEqual(await op.listFiles(vault, item));
  });
});

describe("getFileContent", () => {
  it.each(["", "plain", "Grüße, 日本 🔑\r\n\u0000"])("gives the text %j", async (text) => {
    const { op, vault, item, file } = await withFile(text);
    expect(await op.getFileContent(vault, item, file)).toBe(text);
  });

  it("gives a text of many pieces", async () => {
    const text = "All the characters are ASCII.\n".repeat(20_000);
    const { op, vault, item, file } = await withFile(text);
    expect((await op.getFileContent(vault, item, file)) === text).toBe(true);
  });

  it("is the SDK's habit: loses characters that two pieces share, where the stream has them whole", async () => {
    const text = "€".repeat(300_000);
    const fresh = await withFile(text);
    const content = await fresh.op.getFileContent(fresh.vault, fresh.item, fresh.file);
    expect(content).toContain("\uFFFD");
    expect((await streamed(fresh)).equals(Buffer.from(text))).toBe(true);
  });
});

describe("getFileContentStream", () => {
  it("gives every byte as it was: 1,000,000 of them", async () => {
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * 31 + (at >> 8) * 7) & 255);
    const stream = await streamed(await withFile(bytes));
    expect(stream.equals(bytes)).toBe(true);
  });

  it("gives nothing for an empty File", async () => {
    expect(await streamed(await withFile(""))).toHaveLength(0);
  });
});

describe("the File of an Item", () => {
  it("is also found by the titles of its vault and its Item", async () => {
    const { op, vault, item, file } = await withFile("content");
    const titles = ["The vault", "The Item"] as const;
    expect(await op.listFiles(...titles)).toEqual(await op.listFiles(vault, item));
    expect(await op.getFileById(...titles, file)).toEqual(await op.getFileById(vault, item, file));
    expect(await op.getFileContent(...titles, file)).toBe("content");
    expect(String(await buffer((await op.getFileContentStream(...titles, file)) as Readable))).toBe("content");
  });
});
