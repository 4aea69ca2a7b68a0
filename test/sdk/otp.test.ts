import { FieldType, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { freshVault } from "./support/vault.ts";

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // the secret of RFC 6238 appendix B
// With a period of 999,999,999 seconds the counter is 1 until 2033, so the code is that of the first test vector of the RFC.
const URI = `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999&issuer=ACME`;
const CODE = "94287082";

/** A vault with an Item that has a field of type OTP for each value. */
async function makeItemWithOtp(...values: string[]) {
  const fresh = await freshVault();
  const builder = new ItemBuilder().setCategory(ItemCategory.Login).setTitle("2FA");
  for (const value of values) builder.addField({ type: FieldType.Otp, label: "one-time password", value });
  return { ...fresh, item: await fresh.op.createItem(fresh.vault, builder.build()) };
}

describe("getItemOTP", () => {
  it("returns the current code for the Item's id", async () => {
    const { op, vault, item } = await makeItemWithOtp(URI);
    expect(await op.getItemOTP(vault, item.id!)).toBe(CODE);
  });

  it("returns the current code for the Item's title", async () => {
    const { op, vault } = await makeItemWithOtp(URI);
    expect(await op.getItemOTP(vault, "2FA")).toBe(CODE);
  });

  it("returns a code of six digits for a base32 secret", async () => {
    const { op, vault } = await makeItemWithOtp(SECRET);
    expect(await op.getItemOTP(vault, "2FA")).toMatch(/^\d{6}$/);
  });

  it("returns the code of the first of several OTP fields", async () => {
    const { op, vault } = await makeItemWithOtp(URI, SECRET);
    expect(await op.getItemOTP(vault, "2FA")).toBe(CODE);
  });

  it("throws when the Item has no OTP field", async () => {
    const { op, vault, item } = await makeItemWithOtp();
    await expect(op.getItemOTP(vault, "2FA")).rejects.toThrow(`No OTP found for the Item ${item.id}`);
  });

  it("throws when the first OTP field is empty, although a later one has a code (a defect of the SDK)", async () => {
    const { op, vault, item } = await makeItemWithOtp("", URI);
    expect(item.fields!.map(({ otp }) => otp)).toEqual([undefined, CODE]);
    await expect(op.getItemOTP(vault, "2FA")).rejects.toThrow(`No OTP found for the Item ${item.id}`);
  });
});

describe("an Item with a one-time password", () => {
  it("is returned with the current code by every method that returns a whole Item", async () => {
    const { op, vault, item } = await makeItemWithOtp(URI);
    const answers = [
      item,
      await op.getItem(vault, "2FA"),
      await op.updateItem(vault, item),
      await op.getItemById(vault, item.id!),
    ];
    for (const { fields } of answers) expect(fields![0]).toMatchObject({ type: "OTP", value: URI, otp: CODE });
  });

  it("can be sent back with the code that it was read with", async () => {
    const { op, vault, item } = await makeItemWithOtp(URI);
    item.fields![0]!.value = SECRET;
    await op.updateItem(vault, item);
    const code = await op.getItemOTP(vault, item.id!);
    expect(code).toMatch(/^\d{6}$/);
  });
});
