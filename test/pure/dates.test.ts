import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDate, isMonthYear } from "../../src/model/field-types.ts";

/**
 * Contract 2.10: a DATE is `YYYY-MM-DD` or Unix seconds, a MONTH_YEAR is `YYYYMM` or `YYYY/MM`.
 * test/api/items-fields.test.ts tests the same rule with requests.
 */

const twoDigits = (number: number) => String(number).padStart(2, "0");
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

describe("isDate", () => {
  it.each(["2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01", "0099-12-31", "9999-12-31", "0", "1719792000", "-86400"])(
    "accepts %s",
    (value) => {
      expect(isDate(value)).toBe(true);
    },
  );

  it.each(
    [
      "2023-02-29 1900-02-29 2024-02-30 2024-04-31 2024-13-01 2024-00-10 2024-01-00 2024-01-32".split(" "),
      "2024-1-1 24-01-01 02024-01-01 2024/01/01 20240101T 2024-01-01T00:00:00Z today".split(" "),
      "- --1 +1 1.5 1e9 0x10 NaN Infinity 1234567890123 \u0662\u0660\u0662\u0664-01-01".split(" "),
      ["", " ", " 2024-01-01", "2024-01-01\n"],
    ].flat(),
  )("refuses %j", (value) => {
    expect(isDate(value)).toBe(false);
  });

  it("accepts all days of the calendar and no others", () => {
    for (const year of [4, 99, 100, 1582, 1900, 2000, 2023, 2024, 2100, 9996]) {
      for (let month = 0; month <= 13; month++) {
        const days = month === 2 && isLeap(year) ? 29 : (LENGTHS[month - 1] ?? 0);
        for (let day = 0; day <= 32; day++) {
          const value = `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
          expect([value, isDate(value)]).toEqual([value, day >= 1 && day <= days]);
        }
      }
    }
  });

  it("accepts every Unix second of the years 0000 to 9999", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
        expect(isDate(String(seconds))).toBe(true);
      }),
    );
  });
});

describe("isMonthYear", () => {
  it.each(["202401", "202412", "2024/01", "2024/12", "000001", "9999/12"])("accepts %s", (value) => {
    expect(isMonthYear(value)).toBe(true);
  });

  it.each([
    "202400",
    "202413",
    "2024/00",
    "2024/13",
    "2024-01",
    "01/2024",
    "2024/1",
    "24/01",
    "2024//01",
    "20241",
    "2024010",
    "",
    " 202401",
    "202401\n",
  ])("refuses %j", (value) => {
    expect(isMonthYear(value)).toBe(false);
  });
});
