import { describe, expect, it } from "vitest";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, ZERO_TIME } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, type SendRequest, requester } from "./replay.ts";

/**
 * 1Password/terraform-provider-onepassword v3, in its Connect mode, through connect-sdk-go v1.5.3.
 *
 * Read: internal/onepassword/connect/connect_client.go and its test, internal/onepassword/model/item.go,
 * internal/onepassword/util/date.go, uuid.go, internal/provider/onepassword_item_resource.go, state_to_model.go,
 * model_to_state.go, onepassword_item_data_source.go, onepassword_vault_data_source.go, CHANGELOG.md, version/version.go.
 * The name in the User-Agent is that of the releases before v2 (onepassword/provider.go); that of v3 was not found.
 *
 * The provider repeats a read at most ten times: after a create until the version is 1, after an update until it is the version
 * in the answer to PUT plus 1, after a delete until the error is a 404. Its state consists of the answers to POST and PUT.
 */

const TERRAFORM = goHeaders("terraform-provider-connect/3.2.1");

async function terraform(name?: string) {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(TERRAFORM, fresh.token) };
}

const UNTIMED = { createdAt: ZERO_TIME, updatedAt: ZERO_TIME };
const FIRST = "6f1c6f0e-9d5a-4c0b-8f43-0a6f2c1d9b11"; // sections and fields have ids of go-uuid
const SECOND = "b7d9a3c2-51e4-4f7e-9c8a-3e2d1f0a7c55";

const recipe = { length: 20, characterSets: ["LETTERS", "SYMBOLS"] };
const username = { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "bob" };
const generated = { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", generate: true, recipe };
const notes = { id: "notesPlain", type: "STRING", purpose: "NOTES", label: "notesPlain" };
const section = { id: FIRST, label: "Dates" };
const dated = (value: string) => ({ id: SECOND, section, type: "DATE", label: "renewal", value });

/** The body for a resource. A resource without a `url` is sent with an empty one. */
const resource = (vault: string, more: object = {}) => ({
  id: "",
  title: "Web",
  urls: [{ primary: true, href: "" }],
  vault: { id: vault },
  category: "LOGIN",
  fields: [username, generated, notes],
  ...UNTIMED,
  ...more,
});

async function create(request: SendRequest, items: string, body: object) {
  const { status, body: item } = await request("POST", items, goJson(body));
  expect(status).toBe(200);
  const path = `${items}/${item.id}`;
  expect((await request("GET", path)).body.version).toBe(1);
  return { path, item: throughGo(ITEM, item) };
}

describe("terraform apply", () => {
  it("creates a login with a generated password, and reads version 1", async () => {
    const { request, vault, items } = await terraform();
    const { item } = await create(request, items, resource(vault));
    expect(item).toMatchObject({ urls: [{ primary: true, href: "" }], fields: [username, { id: "password" }, notes] });
    expect(item.fields[1].value).toMatch(/^(?=.*[!@._*-])[a-zA-Z!@._*-]{20}$/);
  });

  it("updates an Item, and reads the version in the answer to PUT plus 1", async () => {
    const { request, call, vault, items } = await terraform();
    const { path, item } = await create(request, items, resource(vault, { tags: ["b", "a"] }));
    const file = await attach(call, path, "name=a.txt", new Uint8Array(3));
    const next = resource(vault, { id: item.id, urls: [{ primary: true, href: "https://e.x/?a=1&b=<2>" }], tags: ["c"] });
    const { status, body } = await request(
      "PUT",
      path,
      goJson({ ...next, fields: [username, { ...generated, value: "s3cret" }] }),
    );
    expect(status).toBe(200);
    expect(throughGo(ITEM, body)).toMatchObject({ urls: next.urls, tags: ["c"], fields: [username, { value: "s3cret" }] });
    const { body: read } = await request("GET", path);
    expect(read.version).toBe(body.version + 1);
    expect(read.files).toEqual([file]); // the body of the PUT has no files
  });

  it("gets the ids of its sections and fields and the time of a date back unchanged", async () => {
    const { request, vault, items } = await terraform();
    const fields = [username, notes, dated("1761912060")]; // 2025-10-31, 12:01 UTC
    const { path, item } = await create(request, items, resource(vault, { sections: [section], fields }));
    for (const one of [item, (await request("GET", path)).body]) {
      expect(one).toMatchObject({
        sections: [section],
        fields: [username, notes, { ...dated("1761912060"), section }],
      });
    }
  });

  it("creates a database whose fields have no purpose", async () => {
    const { request, vault, items } = await terraform();
    const { purpose: _purpose, ...plain } = generated;
    const names = { hostname: "db.example", database: "app", port: "5432" };
    const hostFields = Object.entries(names).map(([id, value]) => ({ id, type: "STRING", label: id, value }));
    const typeField = { id: "database_type", type: "STRING", label: "type", value: "postgresql" };
    const { item } = await create(
      request,
      items,
      resource(vault, { category: "DATABASE", fields: [plain, ...hostFields, typeField, notes] }),
    );
    expect(item.fields).toMatchObject([
      { id: "password", value: expect.stringMatching(/^.{20}$/) },
      ...hostFields,
      typeField,
      notes,
    ]);
  });

  it.each([
    ["PASSWORD", [generated, notes]],
    ["SECURE_NOTE", [{ ...notes, value: "line\nline" }]],
  ])("creates an Item of the category %s", async (category, fields) => {
    const { request, vault, items } = await terraform();
    const { item } = await create(request, items, resource(vault, { category, fields }));
    expect([item.category, item.fields.length]).toEqual([category, fields.length]);
  });

  it("deletes an Item, and then gets a 404", async () => {
    const { request, vault, items } = await terraform();
    const { path } = await create(request, items, resource(vault));
    expect((await request("DELETE", path)).status).toBe(204);
    const { status, message } = (await request("GET", path)).body;
    expect(`status ${status}: ${message}`).toMatch(/^status 404: .*not found/);
  });
});

describe("terraform, when it reads", () => {
  it("finds a vault by name and an Item by title, reads the vault by id, and downloads a File by content_path", async () => {
    const { request, call, token, vault, items } = await terraform("Staging Env");
    expect((await request("GET", `/v1/vaults?${goTitle("Staging Env")}`)).body).toMatchObject([{ id: vault }]);
    expect((await request("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ name: "Staging Env", description: "" });
    const { path } = await create(request, items, resource(vault, { category: "DOCUMENT", fields: [] }));
    await attach(call, path, "name=a.txt&section=s", new Uint8Array([7, 8]));
    expect((await request("GET", `${items}?${goTitle("Web")}`)).body).toHaveLength(1);
    const { sections, files } = throughGo(ITEM, (await request("GET", path)).body);
    expect(files[0].section.id).toBe(sections[0].id);
    expect((await download(TERRAFORM, token, files[0].content_path)).bytes).toEqual(new Uint8Array([7, 8]));
  });

  it("gets a date that another client wrote as YYYY-MM-DD in Unix seconds, the only form that it parses", async () => {
    const { request, vault, items } = await terraform();
    const { item } = await create(request, items, resource(vault, { fields: [dated("2025-10-31")] }));
    expect(item.fields[0].value).toMatch(/^\d+$/);
    expect(new Date(Number(item.fields[0].value) * 1000).toISOString()).toMatch(/^2025-10-31T/);
  });
});
