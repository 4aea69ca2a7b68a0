import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { goJson, goTitle } from "./encodings.ts";
import { FILE, ITEM, throughGo, VAULT, ZERO_TIME } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, ID, requester } from "./replay.ts";

/**
 * 1Password/connect-sdk-go v1.5.3: its requests for vaults, Items and Files. The Terraform provider, both operators, HashiCorp's
 * plugin, argocd-vault-plugin and vals use it.
 *
 * Read: connect/client.go, connect/version.go, connect/config_helper.go, onepassword/items.go, USAGE.md of that repository;
 * onepassword/errors.go and vaults.go in the copy that tellerops/teller vendors; zipkin/propagation.go of
 * jaegertracing/jaeger-client-go for the trace headers. The SDK treats an unexpected status as an error and parses its body
 * as {status, message}. Every request has the Content-Type application/json, also GET and DELETE. Files (onepassword/files.go): the SDK downloads a
 * content from the concatenation of base URL and content_path, and adds no slash. It refuses answers without the header 1Password-Connect-Version,
 * or with a version below 1.3.0.
 */

const GO_SDK = goHeaders("connect-sdk-go/1.5.3");

/** The example of the README. Go sends an empty string as "" and an empty time as its zero time. */
const SECRET = `{"id":"","title":"Secret String","tags":["1password-connect"],"vault":{"id":""},"category":"LOGIN","fields":[{"id":"","type":"STRING","value":"mysecret"}],"createdAt":"${ZERO_TIME}","updatedAt":"${ZERO_TIME}"}`;

async function sdk(name?: string, base = "") {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(GO_SDK, fresh.token, base) };
}

describe("connect-sdk-go", () => {
  it("lists the vaults as an array", async () => {
    const { request, vault } = await sdk("R&D");
    const { status, body } = await request("GET", "/v1/vaults");
    expect([status, body.length]).toEqual([200, 1]);
    expect(throughGo(VAULT, body[0])).toMatchObject({ id: vault, name: "R&D", type: "USER_CREATED" });
    expect(throughGo(VAULT, (await request("GET", `/v1/vaults/${vault}`)).body)).toEqual(throughGo(VAULT, body[0]));
  });

  it.each(["Team 1", "R&D + ops", "50% (old)", "Büro"])("finds a vault by the title %j", async (title) => {
    const { request, vault } = await sdk(title);
    const { status, body } = await request("GET", `/v1/vaults?${goTitle(title)}`);
    expect([status, body.length, body[0].id]).toEqual([200, 1, vault]);
    expect((await request("GET", `/v1/vaults?${goTitle(`${title}?`)}`)).body).toEqual([]);
  });

  it("creates an Item from a body with empty ids, an empty vault id and zero times", async () => {
    const { request, vault, items } = await sdk();
    const { status, body, text } = await request("POST", items, SECRET);
    expect(status).toBe(200);
    expect(throughGo(ITEM, body)).toMatchObject({ id: expect.stringMatching(ID), title: "Secret String", vault: { id: vault } });
    expect(body.fields).toMatchObject([{ id: expect.stringMatching(/./), type: "STRING", value: "mysecret" }]);
    expect(body.createdAt).not.toContain("0001-01-01");
    expect(text).toMatch(/"version":1[,}]/); // Go parses only an integer, not 1.0 and not "1"
  });

  it.each(["Secret String", "a+b & c", 'say "hi"', "x <y>"])("finds an Item by the title %j, and reads it", async (title) => {
    const { request, vault, items } = await sdk();
    const made = (await request("POST", items, SECRET.replace('"Secret String"', goJson(title)))).body;
    const { body: summaries } = await request("GET", `${items}?${goTitle(title)}`);
    expect(summaries.map(({ id }: { id: string }) => id)).toEqual([made.id]);
    expect(throughGo(ITEM, summaries[0]).vault.id).toBe(vault); // the SDK builds the next path from both ids
    const { body } = await request("GET", `/v1/vaults/${summaries[0].vault.id}/items/${summaries[0].id}`);
    expect(throughGo(ITEM, body)).toMatchObject({ title, fields: [{ value: "mysecret" }] });
  });

  it("finds an Item whose title has the form of an id by title, after a 404 for the id", async () => {
    const { request, items } = await sdk();
    const title = "abcdefghijklmnopqrstuvwxyz";
    const made = (await request("POST", items, SECRET.replace("Secret String", title))).body;
    expect((await request("GET", `${items}/${title}`)).status).toBe(404);
    expect((await request("GET", `${items}?${goTitle(title)}`)).body).toMatchObject([{ id: made.id }]);
  });

  it("changes an Item by a PUT of the whole Item, with version, entropy, files and dates", async () => {
    const { request, call, items } = await sdk();
    const fields = [
      { id: "", type: "CONCEALED", purpose: "PASSWORD", generate: true },
      { id: "", section: { id: "s1" }, type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" },
    ];
    const posted = {
      id: "",
      title: "Login",
      vault: { id: "" },
      category: "LOGIN",
      fields,
      createdAt: ZERO_TIME,
      updatedAt: ZERO_TIME,
    };
    const path = `${items}/${(await request("POST", items, goJson(posted))).body.id}`;
    await attach(call, path, "name=key.pem&section=s1", pattern(20));
    const before = (await request("GET", path)).body;
    const sent = { ...throughGo(ITEM, before), title: "R&D" };
    expect(sent).toMatchObject({
      version: 2,
      files: [{ size: 20 }],
      fields: [{ entropy: 194.71 }, { totp: expect.any(String) }],
    });
    const { status, body } = await request("PUT", path, goJson(sent));
    expect([status, body.title, body.version]).toEqual([200, "R&D", 2]); // in the dialect `connect` the replaced version (contract 3.5)
    const after = (await request("GET", path)).body;
    expect(throughGo(ITEM, after)).toMatchObject({ title: "R&D", version: 3, files: sent.files, createdAt: sent.createdAt });
    expect(after.fields.map(({ value }: { value: string }) => value)).toEqual(before.fields.map((field: any) => field.value));
  });

  it("gives a field's section its label, by which vals names the value", async () => {
    const { request, items, call } = await sdk();
    const sections = [
      { id: "s1", label: "db" },
      { id: "s2", label: "" },
    ];
    const fields = [
      { label: "host", value: "h", section: { id: "s1" } },
      { label: "port", value: "p", section: { id: "s2" } },
    ];
    const made = (await call("POST", items, { body: { title: "x", category: "SERVER", sections, fields } })).body;
    const item = throughGo(ITEM, (await request("GET", `${items}/${made.id}`)).body);
    const keys = item.fields.map(({ section, label }: any) => `${section.label || section.id}.${label}`);
    expect(keys).toEqual(["db.host", "s2.port"]);
  });

  it("creates a section that a field names and the Item does not declare", async () => {
    const { request, items } = await sdk();
    const sectioned = SECRET.replace('"type":"STRING"', '"section":{"id":"s1"},"type":"STRING","label":"host"');
    const { body } = await request("POST", items, sectioned);
    expect(throughGo(ITEM, body)).toMatchObject({ sections: [{ id: "s1" }], fields: [{ section: { id: "s1" }, label: "host" }] });
  });

  it("may send null for a list or an object that is nil (not in the sources of v1.5.3, which omits them)", async () => {
    const { request, items } = await sdk();
    const nil = { urls: null, tags: null, sections: null, files: null, lastEditedBy: null };
    const fields = [{ id: "", type: "CONCEALED", section: null, purpose: "", label: null, value: "v", recipe: null, totp: null }];
    const { status, body } = await request("POST", items, goJson({ ...JSON.parse(SECRET), ...nil, fields }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ urls: [], tags: [], sections: [], files: [], fields: [{ type: "CONCEALED", value: "v" }] });
  });

  it("deletes an Item (204 without a body), and gets a 404 for the second DELETE", async () => {
    const { request, items } = await sdk();
    const path = `${items}/${(await request("POST", items, SECRET)).body.id}`;
    expect((await request("DELETE", path)).status).toBe(204);
    expect((await request("DELETE", path)).body).toMatchObject({ status: 404, message: expect.stringContaining("not found") });
  });

  it("works with a base URL that ends in a slash", async () => {
    const { request, items, vault } = await sdk("Team 1", "/");
    const made = (await request("POST", items, SECRET)).body;
    expect((await request("GET", `/v1/vaults?${goTitle("Team 1")}`)).body).toMatchObject([{ id: vault }]);
    expect((await request("GET", `${items}?${goTitle("Secret String")}`)).body).toMatchObject([{ id: made.id }]);
    expect((await request("PUT", `${items}/${made.id}`, goJson(throughGo(ITEM, made)))).status).toBe(200);
    expect((await request("DELETE", `${items}/${made.id}`)).status).toBe(204);
  });

  it("gets the documented errors for a vault outside of its token, a malformed token, category and Item id", async () => {
    const { request, vault, items } = await sdk();
    const other = await connectVault();
    expect((await request("GET", other.items.replace("/items", ""))).body).toMatchObject({ status: 403 });
    expect((await requester(GO_SDK, "x.y.z")("GET", items)).body).toEqual({ status: 401, message: "Invalid token signature" });
    expect((await request("POST", items, SECRET.replace("LOGIN", "NO_SUCH"))).body.message).toBe("Invalid item category");
    expect((await request("GET", `${items}/${vault}`)).body).toMatchObject({ status: 404 });
  });
});

async function withFile(bytes: Uint8Array, base = "") {
  const fresh = await connectVault();
  const { body: item } = await fresh.call("POST", fresh.items, { body: { title: "Keys", category: "DOCUMENT" } });
  const path = `${fresh.items}/${item.id}`;
  const file = await attach(fresh.call, path, "name=key.pem&section=s1", bytes);
  return { ...fresh, path, file, request: requester(GO_SDK, fresh.token, base) };
}

const version = (headers: Headers) => (headers.get("1Password-Connect-Version") ?? "").split(".").map(Number);

describe("connect-sdk-go with Files", () => {
  it("lists the Files of an Item as an array, and reads one", async () => {
    const { request, path, file } = await withFile(pattern(20));
    const list = await request("GET", `${path}/files`);
    expect(list.body).toEqual([file]);
    expect(throughGo(FILE, list.body[0])).toMatchObject({ id: expect.stringMatching(ID), name: "key.pem", size: 20 });
    expect((await request("GET", `${path}/files/${file.id}`)).body).toEqual(file);
    expect(throughGo(ITEM, (await request("GET", path)).body).files).toEqual([file]);
  });

  it.each([
    ["without", ""],
    ["with", "/"],
  ])("downloads the content from content_path, with a base URL %s a slash at its end", async (_, base) => {
    const { token, file } = await withFile(pattern(20_000), base);
    const { status, headers, bytes } = await download(GO_SDK, token, base + file.content_path);
    expect([status, headers.get("Content-Length")]).toEqual([200, "20000"]);
    expect(bytes).toEqual(pattern(20_000));
  });

  it("gets a content_path that begins with a slash (contract 3.5)", async () => {
    const { vault, path, file } = await withFile(pattern(1));
    expect(file.content_path).toBe(`${path}/files/${file.id}/content`);
    expect(file.content_path.startsWith(`/v1/vaults/${vault}/`)).toBe(true);
  });

  it("gets a version of Connect that supports Files, in answers and in errors", async () => {
    const { request, path, token, file } = await withFile(pattern(1));
    const [major = 0, minor = 0, patch = 0] = version((await request("GET", `${path}/files`)).headers);
    expect(major > 1 || (major === 1 && minor >= 3)).toBe(true);
    expect(version((await download(GO_SDK, token, file.content_path)).headers)).toEqual([major, minor, patch]);
    const missing = await request("GET", `${path}/files/abcdefghijklmnopqrstuvwxyz`);
    expect([missing.status, version(missing.headers)]).toEqual([404, [major, minor, patch]]);
  });
});
