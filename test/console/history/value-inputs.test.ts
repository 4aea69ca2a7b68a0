import { describe, expect, it } from "vitest";
import { inputOf, refusalOf, TYPES } from "../../../packages/console/src/edit/value-inputs.ts";
import type { DraftField, FieldType } from "../../../packages/console/src/items/draft.ts";

/** What the form of the console says of the value of a field before it is sent. */

const field = (type: FieldType, value: string): DraftField =>
  ({ id: "field", type, value, label: "", purpose: "" }) as DraftField;

describe("the input of a value", () => {
  it.each(Object.keys(TYPES) as FieldType[])("of %s has no pattern that repeats without an end, whatever is stored", (type) => {
    for (const value of ["", "0", " ".repeat(3_000)]) {
      const { pattern = "" }: { readonly pattern?: unknown } = inputOf(field(type, value)).input ?? {};
      // The time that a browser needs for a pattern is then limited by the pattern, and not by the value.
      expect(String(pattern).replaceAll(/\\./g, "")).not.toMatch(/[*+]|\{\d+,\}/);
    }
  });
});

describe("a one-time password", () => {
  it.each(["", "JBSWY3DPEHPK3PXP", "jbsw y3dp-ehpk 3pxp", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP"])("may be %j", (value) => {
    expect(refusalOf(field("OTP", value))).toBe("");
  });

  it.each([" ".repeat(3_000), "0189", "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP", `${"=".repeat(3_000)}A`])(
    "is refused in words: %j",
    (value) => {
      expect(refusalOf(field("OTP", value))).toContain("setup key");
    },
  );
});
