import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/model/limits.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** The tags of an Item have at most 16 KiB together (contract 12.1). */

/** Three tags of so many bytes together; of "é", each character has two. */
const tagsOf = (bytes: number, character = "x"): string[] => {
  const each = Math.floor(bytes / 3);
  const size = new TextEncoder().encode(character).length;
  return [each, each, bytes - 2 * each].map((length) => character.repeat(Math.floor(length / size)) + "x".repeat(length % size));
};

const TOO_LONG = { status: 400, message: expect.stringContaining(`tags: are longer than ${LIMITS.tags} bytes together`) };

describe("the tags of an Item together", () => {
  it.each(["x", "é", "😀"])("have at most 16 KiB of UTF-8 in a POST, and one byte more is a 400: %s", async (character) => {
    const { items, call } = await freshVault();
    const post = (bytes: number) => call("POST", items, { body: { ...LOGIN, tags: tagsOf(bytes, character) } });
    expect((await post(LIMITS.tags)).status).toBe(200);
    expect((await post(LIMITS.tags + 1)).body).toEqual(TOO_LONG);
  });

  it.each([
    ["PUT", (vault: string, tags: string[]) => ({ ...LOGIN, vault: { id: vault }, tags })],
    ["PATCH", (_: string, tags: string[]) => [{ op: "replace", path: "/tags", value: tags }]],
    ["PATCH of one more", (_: string, tags: string[]) => tags.map((value) => ({ op: "add", path: "/tags/-", value }))],
  ])("have as many after a %s, and a refused one changes nothing", async (how, body) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: { ...LOGIN, tags: [] } })).body;
    const write = (bytes: number) => call(how.split(" ", 1)[0]!, `${items}/${id}`, { body: body(vault, tagsOf(bytes)) });
    expect((await write(LIMITS.tags + 1)).body).toEqual(TOO_LONG);
    expect((await call("GET", `${items}/${id}`)).body.version).toBe(1);
    expect((await write(LIMITS.tags)).status).toBe(200);
  });
});
