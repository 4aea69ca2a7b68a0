import { FieldType, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { freshVault } from "./support/vault.ts";

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // that of RFC 6238 appendix B
// Until 2033 the second period of so many seconds since 1970 is not over, so the code stays that of the RFC's first vector.
const URI = `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999&issuer=ACME`;
const CODE = "94287082";

/** A vault with an Item that has a field of type OTP for each value. */
async function withOtp(...values: string[]) {
  const fresh = await freshVault();
  const builder = new ItemBuilder().setCategory(ItemCategory.Login).setTitle("2FA");
  for (const value of values) builder.addField({ type: FieldType.Otp, label: "one-time password", value });
  return { ...fresh, item: await fresh.op.createItem(fresh.vault, builder.build()) };
}

describe("getItemOTP", () => {
  it("gives the code of now, by the Item's id", async () => {
    const { op, vault, item } = await withOtp(URI);
    expect(await op.getItemOTP(vault, item.id!)).toBe(CODE);
  });

  it("gives the code of now, by the Item's title", async () => {
    const { op, vault } = await withOtp(URI);
    expect(await op.getItemOTP(vault, "2FA")).toBe(CODE);
  });

  it("takes a bare secret: six digits", async () => {
    const { op, vault } = await withOtp(SECRET);
    expect(await op.getItemOTP(vault, "2FA")).toMatch(/^\d{6}$/);
  });

  it("takes the first field of several", async () => {
    const { op, vault } = await withOtp(URI, SECRET);
    expect(await op.getItemOTP(vault, "2FA")).toBe(CODE);
  });

  it("says so when the Item has none", async () => {
    const { op, vault, item } = await withOtp();
    await expect(op.getItemOTP(vault, "2FA")).rejects.toThrow(`No OTP found for the Item ${item.id}`);
  });

  it("is the SDK's habit: does not look behind a first field that is empty", async () => {
    const { op, vault, item } = await withOtp("", URI);
    expect(item.fields!.map(({ otp }) => otp)).toEqual([undefined, CODE]);
    await expect(op.getItemOTP(vault, "2FA")).rejects.toThrow(`No OTP found for the Item ${item.id}`);
  });
});

describe("an Item with a one-time password", () => {
  it("comes with the code of now wherever it is whole", async () => {
    const { op, vault, item } = await withOtp(URI);
    const answers = [
      item,
      await op.getItem(vault, "2FA"),
      await op.updateItem(vault, item),
      await op.getItemById(vault, item.id!),
    ];
    for (const { fields } of answers) expect(fields![0]).toMatchObject({ type: "OTP", value: URI, otp: CODE });
  });

  it("can be written back with the code that it was read with", async () => {
    const { op, vault, item } = await withOtp(URI);
    item.fields![0]!.value = SECRET;
    await op.updateItem(vault, item);
    const code = await op.getItemOTP(vault, item.id!);
    expect(code).toMatch(/^\d{6}$/);
  });
});
