import { describe, expect, it } from "vitest";
import { pythonJson } from "./encodings.ts";
import { ansible, codeword, INFO, named, random, task } from "./ansible.ts";

/**
 * 1Password/ansible-onepasswordconnect-collection v2.2.1: how its modules item_info and field_info look for an Item.
 *
 * Read: plugins/modules/item_info.py, field_info.py, plugins/module_utils/api.py, errors.py, util.py. item_info takes a name
 * for an id until the service says 400 or 404; any other status ends its search. field_info takes `label`, `value` and `id` of
 * every field for granted, and fails over a section that is null.
 */

/** quote() of Python. */
const quote = (text: string) => encodeURIComponent(text).replaceAll("%2F", "/");

describe("item_info", () => {
  it("tries the names of vault and Item as ids first: 400, and then finds them by name", async () => {
    const { play, vault, items } = await ansible("Office Expenses");
    const { id } = (await play("POST", items, pythonJson(task(vault, [codeword], { title: "Business Visa" })))).body;
    const guess = `/v1/vaults/${quote("Office Expenses")}/items`;
    expect((await play("GET", `${guess}/${quote("Business Visa")}`)).body.status).toBe(400);
    expect((await play("GET", `${guess}?${named("Business Visa")}`)).body.status).toBe(400);
    expect((await play("GET", "/v1/vaults")).body).toMatchObject([{ id: vault, name: "Office Expenses" }]);
    expect((await play("GET", `${items}/${quote("Business Visa")}`)).body.status).toBe(400);
    expect((await play("GET", `${items}?${named("Business Visa")}`)).body).toMatchObject([{ id }]);
    expect((await play("GET", `${items}/${id}`)).status).toBe(200);
  });

  it.each(["a/b", "a/files", "50% + 1", "what?", "Büro", "x/files/y/content"])(
    "tries the title %j as an id: 400 or 404",
    async (title) => {
      const { play, vault, items } = await ansible();
      const { id } = (await play("POST", items, pythonJson(task(vault, [codeword], { title })))).body;
      expect((await play("GET", `${items}/${quote(title)}`)).body.status).toBeOneOf([400, 404]);
      expect((await play("GET", `${items}?${named(title)}`)).body).toMatchObject([{ id }]);
    },
  );
});

describe("field_info", () => {
  it("reads label, value and id of every field, the label of every section, and no section that is null", async () => {
    const { play, vault, items } = await ansible();
    const bare = { ...codeword, label: null, value: null };
    const { id } = (await play("POST", items, pythonJson(task(vault, [bare, codeword, random], { sections: [INFO] })))).body;
    const { body } = await play("GET", `${items}/${id}`);
    const text = expect.any(String);
    expect(body.fields.map((field: any) => [field.id, field.label, field.value])).toEqual(
      [1, 2, 3].map(() => [text, text, text]),
    );
    expect(body.fields.map((field: any) => "section" in field)).toEqual([false, false, true]);
    expect(body.sections).toEqual([INFO]);
  });
});
