import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { httpxQuote, pythonJson } from "./encodings.ts";
import { attach, connectVault, DATE, download, ID, requester } from "./replay.ts";

/**
 * 1Password/connect-sdk-python v1.5.1 and v2.x.
 *
 * Read: src/onepasswordconnectsdk/async_client.py, serializer.py, utils.py, config.py, models/item.py, field.py, file.py,
 * vault.py, summary_item.py, USAGE.md, the README on pypi.org, and the diff of pull request 127 (2.0.0 uses httpx 0.28.1);
 * httpx/_urlparse.py of encode/httpx for the queries. Not read, but known: the standard headers of httpx, and that it writes
 * JSON with the defaults of json.dumps before 0.28 and without blanks since then. The models are generated: an absent
 * attribute is None, None is not sent, and dates are sent as isoformat() with `+00:00`.
 */

const PYTHON_SDK = {
  Accept: "*/*",
  "Accept-Encoding": "gzip, deflate",
  Connection: "keep-alive",
  "User-Agent": "python-httpx/0.28.1",
  "Content-Type": "application/json",
};

async function sdk(name?: string) {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(PYTHON_SDK, fresh.token) };
}

/** The example of USAGE.md. */
const EXAMPLE = {
  title: "Example Login Item",
  category: "LOGIN",
  favorite: false,
  tags: ["1password-connect"],
  trashed: false,
  fields: [{ type: "STRING", purpose: "USERNAME", value: "new_user", generate: false }],
};

const filterQuery = (attribute: string, value: string) => `filter=${httpxQuote(`${attribute} eq "${value}"`)}`;

/** A date as datetime.isoformat() writes it after dateutil parsed it. */
const isoformat = (date: string) =>
  date.replace(/(?:\.(\d{3}))?Z$/, (_, ms?: string) => `${ms && ms !== "000" ? `.${ms}000` : ""}+00:00`);

/** The Item that the models send again: without `files` and `state`, with their own attributes `trashed` and `generate`. */
function throughModels(item: any): any {
  const { files: _files, state: _state, createdAt, updatedAt, lastEditedBy, sections, fields, ...rest } = item;
  const dates = { createdAt: isoformat(createdAt), updatedAt: isoformat(updatedAt) };
  const fieldsOfModel = structuredClone(fields);
  for (const field of fieldsOfModel) field.generate = false;
  return { ...rest, trashed: false, ...dates, lastEditedBy, sections, fields: fieldsOfModel };
}

describe("connect-sdk-python", () => {
  it("lists the vaults, whose types it accepts", async () => {
    const { request, vault } = await sdk();
    const { status, body } = await request("GET", "/v1/vaults");
    expect([status, body.length, body[0].id]).toEqual([200, 1, vault]);
    expect(body[0].type).toBeOneOf(["USER_CREATED", "PERSONAL", "EVERYONE", "TRANSFER"]); // the SDK raises a ValueError for any other type
    expect([body[0].createdAt, body[0].updatedAt]).toEqual([expect.stringMatching(DATE), expect.stringMatching(DATE)]);
  });

  it.each(["VaultA", "A+B & C", "Büro 2", "a=b;c"])("finds a vault by the name %j", async (name) => {
    const { request, vault } = await sdk(name);
    expect((await request("GET", `/v1/vaults?${filterQuery("name", name)}`)).body).toMatchObject([{ id: vault }]);
  });

  it.each([
    ["0.28", JSON.stringify],
    ["0.23", pythonJson],
  ])("creates an Item with a body written by httpx %s", async (_, write) => {
    const { request, vault, items } = await sdk();
    // The README's example sends an id, which the service ignores (contract 2.16).
    const { status, body } = await request(
      "POST",
      items,
      write({ id: "custom_id", ...EXAMPLE, title: "Zugänge 🔑", vault: { id: vault } }),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: expect.stringMatching(ID), title: "Zugänge 🔑", version: 1, vault: { id: vault } });
    expect(body.fields).toMatchObject([{ id: "username", purpose: "USERNAME", value: "new_user" }]);
  });

  it.each(["Example Login Item", "A+B & C", "Büro", 'say "hi"'])("finds an Item by the title %j", async (title) => {
    const { request, items } = await sdk();
    const made = (await request("POST", items, JSON.stringify({ ...EXAMPLE, title }))).body;
    const { body } = await request("GET", `${items}?${filterQuery("title", title)}`);
    expect(body.map(({ id }: { id: string }) => id)).toEqual([made.id]);
    expect((await request("GET", `${items}/${body[0].id}`)).body).toEqual(made);
  });

  it("changes an Item by a PUT of the attributes of its models, and the Files stay", async () => {
    const { request, call, items } = await sdk();
    const fields = [...EXAMPLE.fields, { type: "CONCEALED", purpose: "PASSWORD", generate: true }];
    const path = `${items}/${(await request("POST", items, JSON.stringify({ ...EXAMPLE, fields }))).body.id}`;
    const file = await attach(call, path, "name=a.txt", pattern(3));
    const before = (await request("GET", path)).body;
    const sent = { ...throughModels(before), title: "New Item Title" };
    expect(sent.createdAt).toMatch(/\+00:00$/);
    expect((await request("PUT", path, JSON.stringify(sent))).status).toBe(200);
    const after = (await request("GET", path)).body;
    const { updatedAt } = after;
    expect(after).toEqual({ ...before, title: "New Item Title", files: [file], updatedAt, version: 3 });
  });

  it("finds a value by the labels of section and field (load_dict)", async () => {
    const { request, items } = await sdk();
    const sections = [{ id: "d1", label: "details" }];
    const fields = [
      { type: "STRING", label: "hostname", section: { id: "d1" }, value: "h", generate: false },
      { type: "STRING", label: "port", value: "5432", generate: false },
    ];
    const { body: item } = await request("POST", items, JSON.stringify({ ...EXAMPLE, sections, fields }));
    expect(item.sections).toEqual(sections);
    expect(item.fields).toMatchObject([
      { section: { id: "d1" }, label: "hostname", value: "h" },
      { label: "port", value: "5432" },
    ]);
    expect(item.fields[1]).not.toHaveProperty("section");
    for (const { purpose } of item.fields) expect(purpose).toBeOneOf([undefined, "USERNAME", "PASSWORD", "NOTES"]);
  });

  it("lists Files and downloads a content, by its own path or by content_path", async () => {
    const { request, call, token, items } = await sdk();
    const path = `${items}/${(await request("POST", items, JSON.stringify(EXAMPLE))).body.id}`;
    await attach(call, path, "name=a.txt", pattern(300));
    const [file] = (await request("GET", `${path}/files`)).body;
    expect((await request("GET", `${path}/files/${file.id}`)).body).toEqual({ ...file, name: "a.txt", size: 300 });
    for (const from of [`${path}/files/${file.id}/content`, file.content_path]) {
      const { status, bytes } = await download(PYTHON_SDK, token, from);
      expect([status, bytes]).toEqual([200, pattern(300)]);
    }
  });

  it("deletes an Item, and reads the message of an error", async () => {
    const { request, items } = await sdk();
    const path = `${items}/${(await request("POST", items, JSON.stringify(EXAMPLE))).body.id}`;
    expect((await request("DELETE", path)).status).toBe(204);
    expect((await request("GET", path)).body.message).toBe(`item ${path.slice(-26)} not found`);
  });
});
