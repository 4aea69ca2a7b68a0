import { describe, expect, it } from "vitest";
import { freshItem, pattern, stateOf } from "../support/files.ts";
import { LOGIN } from "../support/service.ts";

/** The id of a section has at most 255 bytes (contract 2.14). */

const LONG = "s".repeat(256);
const refused = (place: string) => ({ status: 400, message: `${place}: is longer than 255 bytes` });

describe("the section of an upload", () => {
  it.each(["s", "é", "€", "😀"])("has at most 255 bytes of UTF-8, of %s", async (character) => {
    const world = await freshItem();
    const width = new TextEncoder().encode(character).length;
    const most = character.repeat(255 / width) + "a".repeat(255 % width);
    const before = await stateOf(world);
    const over = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(`${most}a`)}`);
    expect(over.body).toEqual(refused("section"));
    expect(await stateOf(world)).toEqual(before);
    const at = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(most)}`);
    expect([at.status, at.body.section]).toEqual([200, { id: most }]);
  });
});

describe("a section with a longer id", () => {
  const long = { id: LONG };
  const sections = [{ ...long, label: "Long" }];

  it.each<[string, (world: Awaited<ReturnType<typeof freshItem>>) => Promise<unknown>]>([
    ["POST", ({ vault, call }) => call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, sections } })],
    ["PUT", ({ vault, path, call }) => call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, sections } })],
    ["PATCH", ({ path, call }) => call("PATCH", path, { body: [{ op: "add", path: `/sections/${LONG}`, value: {} }] })],
    [
      "PATCH of a field",
      ({ path, call }) => call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { section: long } }] }),
    ],
  ])("is a 400 in a %s, which changes nothing", async (_, send) => {
    const world = await freshItem();
    const before = await stateOf(world);
    expect(await send(world)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/sections\[\d\]\.id: is longer than 255 bytes/) },
    });
    expect(await stateOf(world)).toEqual(before);
  });
});
