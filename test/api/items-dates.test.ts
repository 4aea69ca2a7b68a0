import { describe, expect, it } from "vitest";
import { client, LOGIN, makeToken, type Reply, shareVault } from "../support/service.ts";

/** The values of fields of the types DATE and MONTH_YEAR (contract 2.10). */

const sharedVault = shareVault();

/** Creates an Item with one field. */
async function create(field: object): Promise<Reply> {
  const { items, call } = await sharedVault();
  return call("POST", items, { body: { ...LOGIN, fields: [field] } });
}

const REFUSED = { status: 400, message: expect.stringMatching(/^fields\[0\]\.value: /) };

const DAYS = ["2024-02-29", "1999-12-31", "2000-01-01", "2000-02-29", "0", "1700000000", "-86400", ""];
const INVALID_DAYS = [
  // Days that do not exist, other orders and separators, other forms of a time, and additional characters.
  "2023-02-29 1900-02-29 2024-04-31 2024-13-01 2024-00-10 2024-01-00".split(" "),
  "2024/01/01 2024-1-1 31.12.2024 12-31-2024 24-01-01 2024-01".split(" "),
  "2024-01-01T00:00:00Z now 1e9 1.5 +5 0x10".split(" "),
  [" 0", "2024-01-01\n", " ", "2024-01-01 "],
].flat();

const MONTHS = ["202401", "202412", "2024/01", "2024/12", "190006", ""];
const INVALID_MONTHS = [
  "202400 202413 2024/00 2024/13 2024-12 2024/1 12/2024 122024 24/12 2024".split(" "),
  "2024//12 2024/123 2024/12/01 december 1700000000".split(" "),
  [" 202412", "202412\n", " "],
].flat();

describe.each([
  { type: "DATE", valid: DAYS, invalid: INVALID_DAYS },
  { type: "MONTH_YEAR", valid: MONTHS, invalid: INVALID_MONTHS },
])("A field of type $type", ({ type, valid, invalid }) => {
  it.each(valid)("accepts the value %j and returns it unchanged", async (value) => {
    expect((await create({ type, value })).body.fields[0]).toMatchObject({ type, value });
  });

  it.each(invalid)("refuses the value %j", async (value) => {
    expect((await create({ type, value })).body).toEqual(REFUSED);
  });

  it("is validated also when its type is written in lower case, and by PUT", async () => {
    expect((await create({ type: type.toLowerCase(), value: "x" })).body).toEqual(REFUSED);
    const { vault, items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const body = { ...LOGIN, vault: { id: vault }, fields: [{ type, value: "x" }] };
    expect((await call("PUT", `${items}/${id}`, { body })).body).toEqual(REFUSED);
  });
});

describe("In the dialect connect", () => {
  it.each([
    ["DATE", "2025-10-31", "1761912000"],
    ["DATE", "1969-12-31", "-43200"],
    ["DATE", "0099-01-01", "-59042952000"],
    ["DATE", "1761912060", "1761912060"],
    ["DATE", "", ""],
    ["MONTH_YEAR", "2025/10", "202510"],
    ["MONTH_YEAR", "202510", "202510"],
    ["STRING", "2025-10-31", "2025-10-31"],
  ])("a %s field that was written as %j is returned as %j, as Connect does", async (type, value, expected) => {
    const { vault, items, call } = await sharedVault();
    const connect = client((await makeToken({ [vault]: "rw" }, { dialect: "connect" })).token);
    const { body } = await connect("POST", items, { body: { ...LOGIN, fields: [{ id: "f", type, value }] } });
    expect(body.fields[0].value).toBe(expected);
    expect((await call("GET", `${items}/${body.id}`)).body.fields[0].value).toBe(value);
  });
});
