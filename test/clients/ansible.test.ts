import { describe, expect, it } from "vitest";
import { formEscape, pythonJson } from "./encodings.ts";
import { attach, connectVault, ID, requester, type SendRequest } from "./replay.ts";

/**
 * 1Password/ansible-onepasswordconnect-collection v2.2.1: the modules generic_item, item_info and field_info.
 *
 * Read: plugins/module_utils/api.py, vault.py, fields.py, const.py, specs.py, errors.py, util.py, plugins/modules/
 * generic_item.py, item_info.py, field_info.py, USAGEGUIDE.md, CHANGELOG.md. The module sends no PATCH, although its list of
 * methods with a body contains it. It distinguishes errors by the number `status` in the body, and recognizes 204 by the empty
 * body. It uses scheme and host of `hostname` and drops a path. The versions of Python and Ansible in the User-Agent are examples.
 * item_info sends a name as an id first and searches by name after a 400 or 404; any other status ends the search. field_info requires `label`,
 * `value` and `id` in every field, and fails when a section is null.
 */

const ANSIBLE = {
  "User-Agent": "op-connect-ansible/2.2.1 Python/3.11.7 Ansible/2.16.3",
  "Content-Type": "application/json",
  Accept: "application/json",
};

async function ansible(name?: string) {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(ANSIBLE, fresh.token) };
}

const titleQuery = (title: string) => `filter=${formEscape(`title eq "${title}"`)}`;

const PLAIN = { section: null, recipe: null, generate: false };
const GENERATE = { recipe: { length: 16, characterSets: ["DIGITS", "LETTERS"] }, generate: true, value: null };
const INFO = { id: "5ad1b3c0-7f0e-4c43-9c2c-8a4d9e1f6b27", label: "Personal Info" }; // str(uuid4()) in the module, which differs each time

/**
 * The body that the module builds from a task. Fields have no ids, sections have the ids of the task, and absent values are
 * null.
 */
const task = (vault: string, fields: object[], more: object = {}) => ({
  title: "Club Membership",
  vault: { id: vault },
  category: "API_CREDENTIAL",
  urls: [],
  tags: [],
  fields,
  favorite: false,
  ...more,
});
const codeword = { type: "CONCEALED", label: "Codeword", ...PLAIN, value: "hunter2", purpose: "" };
const randomCode = { type: "CONCEALED", label: "Random Code", section: { id: INFO.id }, ...GENERATE, purpose: "" };

/** `state: present` when the Item does not exist: the module searches it and creates it. */
async function create(request: SendRequest, items: string, body: object) {
  expect((await request("GET", `${items}?${titleQuery("Club Membership")}`)).body).toEqual([]);
  const { status, body: item } = await request("POST", items, pythonJson(body));
  expect(status).toBe(200);
  return item;
}

/** `state: present` when the Item exists: the module finds, reads and replaces it. */
async function replace(request: SendRequest, items: string, change: (original: any) => object) {
  const { body: found } = await request("GET", `${items}?${titleQuery("Club Membership")}`);
  expect(found).toHaveLength(1);
  const path = `${items}/${found[0].id}`;
  const { body: original } = await request("GET", path);
  const { status, body } = await request("PUT", path, pythonJson({ ...change(original), id: original.id }));
  expect([status, body.id]).toEqual([200, original.id]);
  return { original, body, path };
}

const valueOf = (item: any, label: string): string => item.fields.find((field: any) => field.label === label).value;

describe("generic_item", () => {
  it("creates an Item with sections, fields in the sections, and a generated value", async () => {
    const { request, vault, items } = await ansible();
    const item = await create(request, items, task(vault, [codeword, randomCode], { sections: [INFO] }));
    expect(item).toMatchObject({ id: expect.stringMatching(ID), vault: { id: vault }, sections: [INFO], urls: [], tags: [] });
    expect(item.fields).toMatchObject([{ value: "hunter2" }, { section: { id: INFO.id } }]);
    expect(valueOf(item, "Random Code")).toMatch(/^(?=.*\d)[a-zA-Z0-9]{16}$/);
  });

  it("gets a value of the default recipe when the field has no recipe", async () => {
    const { request, vault, items } = await ansible();
    const item = await create(request, items, task(vault, [{ ...randomCode, section: null, recipe: null }]));
    expect(valueOf(item, "Random Code")).toMatch(/^[a-zA-Z0-9!@._*-]{32}$/);
  });

  it("with on_create keeps the generated value, the notes and the Files of the existing Item", async () => {
    const { request, call, vault, items } = await ansible();
    const notes = { type: "STRING", label: "notesPlain", ...PLAIN, value: "line", purpose: "NOTES" };
    const created = await create(request, items, task(vault, [notes, randomCode], { sections: [INFO] }));
    const file = await attach(call, `${items}/${created.id}`, "name=a.txt", new Uint8Array(3));
    const { original, body, path } = await replace(request, items, ({ fields: [kept, old] }) =>
      task(
        vault,
        [
          { ...kept, section: null },
          { ...randomCode, recipe: null, generate: false, value: old.value },
        ],
        { sections: [INFO] },
      ),
    );
    expect(valueOf(body, "Random Code")).toBe(valueOf(original, "Random Code"));
    expect(body).toMatchObject({ fields: [{ id: "notesPlain", value: "line" }, {}], files: [file] });
    expect((await request("GET", path)).body.version).toBe(original.version + 1);
  });

  it("with always generates a new value", async () => {
    const { request, vault, items } = await ansible();
    await create(request, items, task(vault, [randomCode], { sections: [INFO] }));
    const { original, body } = await replace(request, items, () => task(vault, [randomCode], { sections: [INFO] }));
    expect(valueOf(body, "Random Code")).not.toBe(valueOf(original, "Random Code"));
  });

  it("creates a LOGIN with username, generated password, and urls that have an href only", async () => {
    const { request, vault, items } = await ansible();
    const fields = [
      { type: "STRING", label: "Username", ...PLAIN, value: "bob", purpose: "USERNAME" },
      { type: "CONCEALED", label: "password", ...GENERATE, section: null, purpose: "PASSWORD" },
    ];
    const item = await create(request, items, task(vault, fields, { category: "LOGIN", urls: [{ href: "https://e.x" }] }));
    expect(item.fields).toMatchObject([
      { id: "username", label: "Username" },
      { id: "password", entropy: expect.any(Number) },
    ]);
    expect(item.urls).toEqual([{ href: "https://e.x" }]);
  });

  it("with a uuid creates an Item when the requested Item is a 404", async () => {
    const { request, vault, items } = await ansible();
    expect((await request("GET", `${items}/abcdefghijklmnopqrstuvwxyz`)).body.status).toBe(404);
    const { status, body } = await request("POST", items, pythonJson(task(vault, [])));
    expect([status, body.fields, body.sections]).toEqual([200, [], []]);
  });

  it("with state absent deletes the Item (204 without a body), and then does not find it", async () => {
    const { request, vault, items } = await ansible();
    const { id } = await create(request, items, task(vault, [codeword]));
    expect((await request("DELETE", `${items}/${id}`)).status).toBe(204);
    expect((await request("GET", `${items}?${titleQuery("Club Membership")}`)).body).toEqual([]);
    expect((await request("DELETE", `${items}/${id}`)).body.status).toBe(404);
  });
});

/** Encodes a text as quote() of Python. */
const quote = (text: string) => encodeURIComponent(text).replaceAll("%2F", "/");

describe("item_info", () => {
  it("requests the names of vault and Item as ids (400), and then finds both by name", async () => {
    const { request, vault, items } = await ansible("Office Expenses");
    const { id } = (await request("POST", items, pythonJson(task(vault, [codeword], { title: "Business Visa" })))).body;
    const pathWithName = `/v1/vaults/${quote("Office Expenses")}/items`;
    expect((await request("GET", `${pathWithName}/${quote("Business Visa")}`)).body.status).toBe(400);
    expect((await request("GET", `${pathWithName}?${titleQuery("Business Visa")}`)).body.status).toBe(400);
    expect((await request("GET", "/v1/vaults")).body).toMatchObject([{ id: vault, name: "Office Expenses" }]);
    expect((await request("GET", `${items}/${quote("Business Visa")}`)).body.status).toBe(400);
    expect((await request("GET", `${items}?${titleQuery("Business Visa")}`)).body).toMatchObject([{ id }]);
    expect((await request("GET", `${items}/${id}`)).status).toBe(200);
  });

  it.each(["a/b", "a/files", "50% + 1", "what?", "Büro", "x/files/y/content"])(
    "requests the title %j as an id (400 or 404), and then finds the Item by title",
    async (title) => {
      const { request, vault, items } = await ansible();
      const { id } = (await request("POST", items, pythonJson(task(vault, [codeword], { title })))).body;
      expect((await request("GET", `${items}/${quote(title)}`)).body.status).toBeOneOf([400, 404]);
      expect((await request("GET", `${items}?${titleQuery(title)}`)).body).toMatchObject([{ id }]);
    },
  );
});

describe("field_info", () => {
  it("gets label, value and id in every field, the label in every section, and no section that is null", async () => {
    const { request, vault, items } = await ansible();
    const emptyField = { ...codeword, label: null, value: null };
    const { id } = (
      await request("POST", items, pythonJson(task(vault, [emptyField, codeword, randomCode], { sections: [INFO] })))
    ).body;
    const { body } = await request("GET", `${items}/${id}`);
    const anyText = expect.any(String);
    expect(body.fields.map((field: any) => [field.id, field.label, field.value])).toEqual(
      [1, 2, 3].map(() => [anyText, anyText, anyText]),
    );
    expect(body.fields.map((field: any) => "section" in field)).toEqual([false, false, true]);
    expect(body.sections).toEqual([INFO]);
  });
});
