import { describe, expect, it } from "vitest";
import { pythonJson } from "./encodings.ts";
import { ansible, codeword, INFO, titleQuery, randomCode, task } from "./ansible.ts";

/**
 * 1Password/ansible-onepasswordconnect-collection v2.2.1: how its modules item_info and field_info look for an Item.
 *
 * Read: plugins/modules/item_info.py, field_info.py, plugins/module_utils/api.py, errors.py, util.py. item_info sends a name as
 * an id first and searches by name after a 400 or 404; any other status ends the search. field_info requires `label`, `value`
 * and `id` in every field, and fails when a section is null.
 */

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
