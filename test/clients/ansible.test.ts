import { describe, expect, it } from "vitest";
import { ansible, codeword, GENERATE, INFO, named, PLAIN, random, task } from "./ansible.ts";
import { pythonJson } from "./encodings.ts";
import { attach, ID, type Play } from "./replay.ts";

/**
 * 1Password/ansible-onepasswordconnect-collection v2.2.1: the module generic_item.
 *
 * Read: plugins/module_utils/api.py, vault.py, fields.py, const.py, specs.py, errors.py, util.py, plugins/modules/
 * generic_item.py, item_info.py, field_info.py, USAGEGUIDE.md, CHANGELOG.md. It sends no PATCH: its list of methods with a body
 * names it, and nothing uses it. Errors are told apart by the number `status` in their body, 204 by its empty body. It takes
 * scheme and host from `hostname` and drops any path. The versions of Python and Ansible in the User-Agent are examples.
 */

/** `state: present`, the Item not there yet: look for it, create it. */
async function create(play: Play, items: string, body: object) {
  expect((await play("GET", `${items}?${named("Club Membership")}`)).body).toEqual([]);
  const { status, body: item } = await play("POST", items, pythonJson(body));
  expect(status).toBe(200);
  return item;
}

/** `state: present`, the Item there: find it, read it, replace it. */
async function replace(play: Play, items: string, change: (original: any) => object) {
  const { body: found } = await play("GET", `${items}?${named("Club Membership")}`);
  expect(found).toHaveLength(1);
  const path = `${items}/${found[0].id}`;
  const { body: original } = await play("GET", path);
  const { status, body } = await play("PUT", path, pythonJson({ ...change(original), id: original.id }));
  expect([status, body.id]).toEqual([200, original.id]);
  return { original, body, path };
}

const valueOf = (item: any, label: string): string => item.fields.find((field: any) => field.label === label).value;

describe("generic_item", () => {
  it("creates an Item with sections that its fields name, and a generated value", async () => {
    const { play, vault, items } = await ansible();
    const item = await create(play, items, task(vault, [codeword, random], { sections: [INFO] }));
    expect(item).toMatchObject({ id: expect.stringMatching(ID), vault: { id: vault }, sections: [INFO], urls: [], tags: [] });
    expect(item.fields).toMatchObject([{ value: "hunter2" }, { section: { id: INFO.id }, purpose: "" }]);
    expect(valueOf(item, "Random Code")).toMatch(/^(?=.*\d)[a-zA-Z0-9]{16}$/);
  });

  it("takes the defaults of the service where there is no recipe", async () => {
    const { play, vault, items } = await ansible();
    const item = await create(play, items, task(vault, [{ ...random, section: null, recipe: null }]));
    expect(valueOf(item, "Random Code")).toMatch(/^[a-zA-Z0-9!@._*-]{32}$/);
  });

  it("on_create: keeps the generated value, the notes and the Files of the Item that is there", async () => {
    const { play, call, vault, items } = await ansible();
    const notes = { type: "STRING", label: "notesPlain", ...PLAIN, value: "line", purpose: "NOTES" };
    const created = await create(play, items, task(vault, [notes, random], { sections: [INFO] }));
    const file = await attach(call, `${items}/${created.id}`, "name=a.txt", new Uint8Array(3));
    const { original, body, path } = await replace(play, items, ({ fields: [kept, old] }) =>
      task(
        vault,
        [
          { ...kept, section: null },
          { ...random, recipe: null, generate: false, value: old.value },
        ],
        { sections: [INFO] },
      ),
    );
    expect(valueOf(body, "Random Code")).toBe(valueOf(original, "Random Code"));
    expect(body).toMatchObject({ fields: [{ id: "notesPlain", value: "line" }, {}], files: [file] });
    expect((await play("GET", path)).body.version).toBe(original.version + 1);
  });

  it("always: generates another value", async () => {
    const { play, vault, items } = await ansible();
    await create(play, items, task(vault, [random], { sections: [INFO] }));
    const { original, body } = await replace(play, items, () => task(vault, [random], { sections: [INFO] }));
    expect(valueOf(body, "Random Code")).not.toBe(valueOf(original, "Random Code"));
  });

  it("gives a LOGIN its username and password by their labels, and takes urls that are hrefs alone", async () => {
    const { play, vault, items } = await ansible();
    const fields = [
      { type: "STRING", label: "Username", ...PLAIN, value: "bob", purpose: "USERNAME" },
      { type: "CONCEALED", label: "password", ...GENERATE, section: null, purpose: "PASSWORD" },
    ];
    const item = await create(play, items, task(vault, fields, { category: "LOGIN", urls: [{ href: "https://e.x" }] }));
    expect(item.fields).toMatchObject([
      { id: "username", label: "Username" },
      { id: "password", entropy: expect.any(Number) },
    ]);
    expect(item.urls).toEqual([{ href: "https://e.x" }]);
  });

  it("uuid: creates the Item when the one that it asks for is a 404", async () => {
    const { play, vault, items } = await ansible();
    expect((await play("GET", `${items}/abcdefghijklmnopqrstuvwxyz`)).body.status).toBe(404);
    const { status, body } = await play("POST", items, pythonJson(task(vault, [])));
    expect([status, body.fields, body.sections]).toEqual([200, [], []]);
  });

  it("absent: deletes the Item, which answers 204 without a body; then finds none", async () => {
    const { play, vault, items } = await ansible();
    const { id } = await create(play, items, task(vault, [codeword]));
    expect((await play("DELETE", `${items}/${id}`)).status).toBe(204);
    expect((await play("GET", `${items}?${named("Club Membership")}`)).body).toEqual([]);
    expect((await play("DELETE", `${items}/${id}`)).body.status).toBe(404);
  });
});
