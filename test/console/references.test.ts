import type { Item } from "@item-vault/client";
import { beforeAll, describe, expect, it } from "vitest";
import { referenceTo } from "../../packages/console/src/references/build.ts";
import { type Client, client, makeToken, makeVault } from "../support/service.ts";

/** The references that the console copies, resolved by the service (contract 16). */

const VAULTS = ["Production", "Twin", "twin", "a/b", "Zürich"] as const;
const vaults: { id: string; name: string }[] = [];
let call: Client;

beforeAll(async () => {
  for (const name of VAULTS) vaults.push({ id: await makeVault(name), name });
  call = client((await makeToken(Object.fromEntries(vaults.map(({ id }) => [id, "rw" as const])))).token);
});

const make = async (body: object, vault = 0): Promise<Item> =>
  (await call("POST", `/v1/vaults/${vaults[vault]!.id}/items`, { body: { category: "LOGIN", ...body } })).body as Item;

const value = async (reference: string | undefined): Promise<unknown> =>
  (await call("POST", "/v1/resolve", { body: { references: [reference] } })).body.values[0].value;

/** The reference to the first field of an Item, among all Items that are named. */
const referenceOf = (item: Item, ...others: readonly Item[]): string | undefined =>
  referenceTo({ field: item.fields[0]! }, item, { vaults, items: [item, ...others] });

const field = (label: string) => ({ fields: [{ id: "f", label, value: "v" }] });

describe("a field", () => {
  it("has a reference of names", async () => {
    const item = await make({ title: "Git Hub", ...field("pass word") });
    expect(referenceOf(item)).toBe("op://Production/Git Hub/pass word");
    expect(await value(referenceOf(item))).toBe("v");
  });

  it("has a reference of names with letters of any script, in both normalizations", async () => {
    for (const form of ["NFC", "NFD"]) {
      const item = await make({ title: `Café ${form}`.normalize(form), ...field("鍵") }, 4);
      expect(referenceOf(item)).toBe(`op://Zürich/${`Café ${form}`.normalize(form)}/鍵`);
      expect(await value(referenceOf(item))).toBe("v");
    }
  });

  it.each([
    ["a slash", "a/b"],
    ["an emoji", "🔑"],
    ["a question mark", "a?attribute=type"],
    ["nothing", ""],
    ["a space at its end", "a "],
    ["the form of an id", "abcdefghijklmnopqrstuvwxyz"],
  ])("whose Item has a title with %s has a reference with the id of the Item", async (_, title) => {
    const item = await make({ title, ...field("x") });
    expect(referenceOf(item)).toBe(`op://Production/${item.id}/x`);
    expect(await value(referenceOf(item))).toBe("v");
  });

  it.each([
    ["a slash", "a/b", "f"],
    ["an emoji", "🔑", "f"],
    ["nothing", "", "f"],
    ["the id of another field", "g", "f"],
  ])("whose label is or has %s has a reference with its id", async (_, label, id) => {
    const fields = [
      { id, label, value: "v" },
      { id: "g", label: "h", value: "w" },
    ];
    const item = await make({ title: `label ${label.codePointAt(0)}`, fields });
    expect(referenceOf(item)).toMatch(/^op:\/\/Production\/label [^/]*\/f$/);
    expect(await value(referenceOf(item))).toBe("v");
  });

  it("whose label and id have other characters has no reference", async () => {
    const item = await make({ title: "none", fields: [{ id: "a:b", label: "c/d", value: "v" }] });
    expect(referenceOf(item)).toBeUndefined();
  });

  it.each([1, 3])(
    "has a reference with the id of a vault whose name is not unique or has other characters: %i",
    async (vault) => {
      const item = await make({ title: "In", ...field("x") }, vault);
      expect(referenceOf(item)).toBe(`op://${vaults[vault]!.id}/In/x`);
      expect(await value(referenceOf(item))).toBe("v");
    },
  );

  it("has a reference with the id of the Item when another one of the vault has that title", async () => {
    const [first, second, elsewhere] = [
      await make({ title: "Same", ...field("x") }),
      await make({ title: "SAME", ...field("x") }),
      await make({ title: "Same", ...field("x") }, 3),
    ];
    expect(referenceOf(first, second, elsewhere)).toBe(`op://Production/${first.id}/x`);
    expect(referenceOf(elsewhere, first, second)).toBe(`op://${vaults[3]!.id}/Same/x`);
    expect(await value(referenceOf(first, second, elsewhere))).toBe("v");
  });

  it("of an archived Item has a reference with the id of the Item", async () => {
    const item = await make({ title: "Old", ...field("x") });
    const { body } = await call("POST", `/v1/vaults/${item.vault.id}/items/${item.id}/archive`);
    expect(referenceOf(body as Item)).toBe(`op://Production/${item.id}/x`);
    expect(await value(referenceOf(body as Item))).toBe("v");
  });
});

/** Sections and fields with odd and equal labels, each with a value of its own. */
const LABELS = ["x", "X", "", "a/b", "🔑", "f0", " x ", "s0"];
const SECTIONS = ["", "x", "X", "s1", "a/b"];
const all = [undefined, ...SECTIONS.keys()].flatMap((section) =>
  LABELS.map((label, index) => ({
    id: `f${(section ?? 5) * LABELS.length + index}`,
    label,
    value: `${section} ${index}`,
    section: section === undefined ? undefined : { id: `s${section}` },
  })),
);

it("every field of an Item with equal and odd labels has a reference that resolves to its own value", async () => {
  const sections = SECTIONS.map((label, index) => ({ id: `s${index}`, label }));
  const item = await make({ title: "Many", sections, fields: all });
  const references = item.fields.map((one) => referenceTo({ field: one }, item, { vaults, items: [item] }));
  const { body } = await call("POST", "/v1/resolve", { body: { references } });
  expect(body.values.map((one: { value?: string }) => one.value)).toEqual(item.fields.map((one) => one.value));
});

it.each(["uuid", "connect"] as const)("a File has a reference, in the dialect %s", async (dialect) => {
  const reader = client((await makeToken({ [vaults[0]!.id]: "rw" }, { dialect })).token);
  const { id } = await make({ title: `Files ${dialect}`, ...field("ca.pem"), sections: [{ id: "s", label: "Keys" }] });
  const path = `/v1/vaults/${vaults[0]!.id}/items/${id}`;
  const names = ["ca.pem", "key.pem", "key.pem", "a/b", "in section"];
  for (const [index, name] of names.entries()) {
    const section = name === "in section" ? "&section=s" : "";
    await reader("POST", `${path}/files?name=${encodeURIComponent(name)}${section}`, { body: `content ${index}` });
  }
  const item = (await reader("GET", path)).body as Item;
  const surroundings = { vaults: (await reader("GET", "/v1/vaults")).body, items: [item] };
  for (const file of item.files) {
    const reference = referenceTo({ file }, item, surroundings);
    const content = (await reader("GET", `${path}/files/${file.id}/content`)).text;
    expect((await reader("POST", "/v1/resolve", { body: { references: [reference] } })).body.values[0].value).toBe(content);
  }
  const reference = (name: string) => {
    const file = item.files.find((one) => one.name === name)!;
    return referenceTo({ file }, item, surroundings);
  };
  expect(reference("in section")).toBe(`op://Production/Files ${dialect}/Keys/in section`);
});
