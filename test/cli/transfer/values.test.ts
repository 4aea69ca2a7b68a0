import { describe, expect, it } from "vitest";
import { fitTransfer } from "../../../packages/transfer/src/fit.ts";
import type { TransferItem } from "../../../packages/transfer/src/item.ts";

/** Values that the service would take for something else. */

const STEAM = [
  "otpauth://totp/Steam:ada?secret=JBSWY3DPEHPK3PXP&issuer=Steam",
  "otpauth://totp/Steam%3Aada?secret=JBSWY3DPEHPK3PXP",
  "otpauth://totp/ada?secret=JBSWY3DPEHPK3PXP&issuer=steam&digits=5",
  "otpauth://totp/ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=5&encoder=steam",
  "otpauth://steam/ada?secret=JBSWY3DPEHPK3PXP",
  "steam://JBSWY3DPEHPK3PXP",
];
const OTHERS = [
  "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example",
  "otpauth://totp/Steamboat:steam?secret=JBSWY3DPEHPK3PXP",
  "JBSWY3DPEHPK3PXP",
];

const itemOf = (value: string): TransferItem => ({
  title: "One",
  category: "LOGIN",
  tags: [],
  urls: [],
  sections: [],
  fields: [{ type: "OTP", value }],
  sourceId: undefined,
  vault: undefined,
  archived: false,
  history: [],
  files: [],
});

function fit(value: string) {
  const { items, losses } = fitTransfer({ source: "test", items: [itemOf(value)], losses: [] });
  return { field: items[0]!.fields[0], losses: losses.list().map(({ what }) => what) };
}

describe("a one-time code", () => {
  it.each(STEAM)("of Steam stays as concealed text, and the report names it: %s", (value) => {
    expect(fit(value)).toEqual({
      field: expect.objectContaining({ type: "CONCEALED", value }),
      losses: ["values that are no OTP, kept as CONCEALED"],
    });
  });

  it.each(OTHERS)("of others is an OTP field: %s", (value) => {
    expect(fit(value)).toEqual({ field: expect.objectContaining({ type: "OTP" }), losses: [] });
  });
});
