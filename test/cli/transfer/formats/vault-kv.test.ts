import { describe, expect, it } from "vitest";
import { vaultKv } from "../../../../packages/transfer/src/formats/vault-kv.ts";
import { ODD } from "./bitwarden-fixture.ts";
import { expectTruncationsRefused, itemOf, jsonBytes, lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";
import { outer, version2 } from "./text-fixture.ts";

const SECRET = { password: "secret", port: 5432, nested: { a: [1, null] }, odd: ODD, none: null, on: true };
const READ = { password: "secret", port: "5432", nested: '{"a":[1,null]}', odd: ODD, none: "null", on: "true" };

describe("vault-kv", () => {
  it.each([
    ["version 1", outer(SECRET)],
    ["version 2", version2(SECRET, 3)],
  ])("reads a secret of KV %s", async (_, document) => {
    const { items, losses } = await read(vaultKv, jsonBytes(document), { fileName: "database.json" });
    expect(items.map((item) => [item.title, item.category, item.sourceId, valuesOf(item)])).toEqual([
      ["database", "API_CREDENTIAL", undefined, READ],
    ]);
    expect(losses).toEqual([]);
  });

  it("keeps custom metadata in a section", async () => {
    const { items } = await read(vaultKv, jsonBytes(version2({ a: "b" }, 1, {}, { owner: "team" })));
    expect(items[0]).toMatchObject({
      sections: [{ id: "custom-metadata", label: "Custom metadata" }],
      fields: [{ label: "a" }, { label: "owner", type: "STRING", value: "team", section: { id: "custom-metadata" } }],
      updatedAt: Date.UTC(2024, 0, 1, 3, 4, 5, 123),
    });
  });

  it("reads several documents, and takes title and tag from a path that was added", async () => {
    const documents = [outer({ a: "1" }), outer({ a: "2" }, { path: "secret/prod/db" }), outer({ a: "3" })];
    for (const text of [documents.map((one) => JSON.stringify(one, null, 2)).join("\n"), JSON.stringify(documents)]) {
      const { items } = await read(vaultKv, utf8(text), { fileName: "all.jsonl" });
      expect(items.map(({ title, tags }) => [title, tags])).toEqual([
        ["all", []],
        ["db", ["secret/prod"]],
        ["all 2", []],
      ]);
    }
  });

  it("joins the versions of one path, the oldest first, and counts the deleted ones", async () => {
    const path = { path: "secret/db" };
    const documents = [version2({ a: "new" }, 3, path), version2(null, 2, path), version2({ a: "old" }, 1, path)];
    const transfer = await read(vaultKv, jsonBytes(documents));
    const item = itemOf(transfer, "db");
    expect([valuesOf(item), item.history.map(valuesOf)]).toEqual([{ a: "new" }, [{ a: "old" }]]);
    expect(lossesOf(transfer)).toEqual({ "versions that were deleted": 1 });
  });

  it("reads numbers without rounding them", async () => {
    const { items } = await read(vaultKv, utf8('{"data":{"big":12345678901234567890,"one":1.0,"text":"12345678901234567890"}}'));
    expect(valuesOf(items[0]!)).toEqual({ big: "12345678901234567890", one: "1.0", text: "12345678901234567890" });
  });

  it("refuses a file that is cut off", async () => {
    await expectTruncationsRefused(vaultKv, jsonBytes(version2(SECRET, 1)));
    await expectTruncationsRefused(vaultKv, jsonBytes([version2(SECRET, 1), outer(SECRET)]));
  });

  it.each([
    ["", "The file has no JSON"],
    ["[]x", "Document 2 is no JSON, or ends too early"],
    ["-", "Document 1 is no JSON, or ends too early"],
    ['["secret/"]', "Document 1[0] is no object"],
    ['{"data":"secret"}', "Document 1.data is no object"],
    ['{"keys":[]}', "Document 1.data is missing: this is no secret of KV"],
    ['{"data":{"data":"secret","metadata":{"version":1,"created_time":"x"}}}', "Document 1.data.data is no object"],
    ['{"data":{"data":{},"metadata":{"version":"x","created_time":"x"}}}', "Document 1.data.metadata.version is no number"],
    [`{"data":${"[".repeat(5_000)}`, "Document 1 is nested deeper than 100 levels"],
  ])("refuses %.70s", async (text, message) => {
    expect(await refusal(vaultKv, utf8(text))).toBe(message);
  });
});
