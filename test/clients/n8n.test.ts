import { describe, expect, it } from "vitest";
import { connectVault, requester } from "./replay.ts";

/**
 * n8layer/n8n-nodes-1password 0.1.2, a community node of n8n: it declares its requests, which n8n sends by axios with JSON headers and with
 * each parameter of the query, also an empty one. Read: nodes/1password/descriptions/*.ts, credentials/OnePasswordApi.credentials.ts.
 */

const HEADERS = { Accept: "application/json", "Content-Type": "application/json" };

/** The body of "Add an Item" with one login URL and two fields. A field has what its form shows, and `sectionId` beside `section`. */
const bodyOf = (vault: string) =>
  JSON.stringify({
    vault: { id: vault },
    title: "Database",
    category: "DATABASE",
    tags: ["production"],
    urls: [{ href: "https://db.example.com", primary: true }],
    favorite: false,
    sections: [{ id: "s1", label: "Access" }],
    fields: [
      { id: "", label: "", purpose: "USERNAME", sectionId: "", type: "STRING", value: "ada" },
      { id: "host", label: "host", purpose: "", sectionId: "s1", type: "STRING", value: "db", section: { id: "s1" } },
      {
        id: "",
        label: "",
        purpose: "PASSWORD",
        sectionId: "",
        type: "STRING",
        value: "",
        generate: true,
        characterSets: ["LETTERS", "DIGITS"],
        excludeCharacters: "",
        passwordLength: 32,
      },
    ],
  });

describe("the node of n8n", () => {
  it("adds, lists, reads and deletes an Item, and lists with the empty filter that it sends by default", async () => {
    const { vault, items, token } = await connectVault();
    const request = requester(HEADERS, token);
    const { body: added } = await request("POST", items, bodyOf(vault));
    expect(added.fields).toMatchObject([{ value: "ada" }, { id: "host", section: { id: "s1" } }, { purpose: "PASSWORD" }]);
    expect(added.fields[2].value).toMatch(/./);
    expect((await request("GET", `${items}?filter=`)).body).toMatchObject([{ id: added.id, title: "Database" }]);
    const filter = new URLSearchParams({ filter: 'title eq "Database"' }).toString();
    expect((await request("GET", `${items}?${filter}`)).body).toMatchObject([{ id: added.id }]);
    expect((await request("GET", `${items}/${added.id}`)).body.fields).toHaveLength(3);
    expect((await request("DELETE", `${items}/${added.id}`)).status).toBe(204);
    expect((await request("GET", `${items}?filter=`)).body).toEqual([]);
  });

  it("reads the details of a vault, and the Files of an Item with their contents", async () => {
    const { vault, items, token, call } = await connectVault();
    const request = requester(HEADERS, token);
    const { body: item } = await call("POST", items, { body: { title: "Document", category: "SECURE_NOTE" } });
    const files = `${items}/${item.id}/files`;
    const { body: file } = await call("POST", `${files}?name=a.txt`, { body: "content" });
    expect((await request("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ id: vault });
    expect((await request("GET", `${files}/?inline_content=true`)).body).toMatchObject([{ content: btoa("content") }]);
    expect((await request("GET", `${files}/${file.id}?inline_content=true`)).body).toMatchObject({ content: btoa("content") });
  });
});
