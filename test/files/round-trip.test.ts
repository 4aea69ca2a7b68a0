import { describe, expect, it } from "vitest";
import { bytesOf, itemIn, pattern } from "../support/files.ts";
import { shareVault } from "../support/service.ts";

const sharedVault = shareVault();
/** A new Item in the vault that the tests share. */
const newItem = async () => itemIn(await sharedVault());

const KIB = 1024;
const SIZES = [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 32 * KIB, KIB * KIB - 1, KIB * KIB, KIB * KIB + 1, 3 * KIB * KIB];

describe("an uploaded content", () => {
  it.each(SIZES)("of %i bytes is downloaded unchanged", async (size) => {
    const { upload, download } = await newItem();
    const bytes = pattern(size);
    const { status, body } = await upload(bytes);
    expect([status, body.size]).toEqual([200, size]);
    const response = await download(body.id);
    expect(response.headers.get("Content-Length")).toBe(String(size));
    expect(await bytesOf(response)).toEqual(bytes);
  });

  it.each(SIZES)("of %i bytes that was sent without Content-Length is downloaded unchanged", async (size) => {
    const { upload, download } = await newItem();
    const bytes = pattern(size);
    const { status, body } = await upload(new Blob([bytes]).stream());
    expect([status, body.size]).toEqual([200, size]);
    expect(await bytesOf(await download(body.id))).toEqual(bytes);
  });
});
