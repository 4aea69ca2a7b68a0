import { describe, expect, it } from "vitest";
import { ansible, codeword, GENERATE, INFO, titleQuery, PLAIN, randomCode, task } from "./ansible.ts";
import { pythonJson } from "./encodings.ts";
import { attach, ID, type SendRequest } from "./replay.ts";

/**
 * 1Password/ansible-onepasswordconnect-collection v2.2.1: the module generic_item.
 *
 * Read: plugins/module_utils/api.py, vault.py, fields.py, const.py, specs.py, errors.py, util.py, plugins/modules/
 * generic_item.py, item_info.py, field_info.py, USAGEGUIDE.md, CHANGELOG.md. The module sends no PATCH, although its list of
 * methods with a body contains it. It distinguishes errors by the number `status` in the body, and recognizes 204 by the empty
 * body. It uses scheme and host of `hostname` and drops a path. The versions of Python and Ansible in the User-Agent are examples.
 */

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
