import { describe, expect, it } from "vitest";
import { chrome, firefox } from "../../../../transfer/src/formats/csv.ts";
import { ODD } from "./bitwarden-fixture.ts";
import { lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";
import { CHROME, FIREFOX, GUID } from "./text-fixture.ts";

describe("chrome", () => {
  it("reads every column", async () => {
    const { items, losses } = await read(chrome, utf8(`\uFEFF${CHROME}`));
    expect(items.map((item) => [item.title, item.urls[0]?.href, valuesOf(item), item.sourceId])).toEqual([
      ["example.com", "https://example.com/login", { username: "me", password: "secret-1" }, undefined],
      ["com.example", "android://hash@com.example/", { username: "you", password: `secret ${ODD}`, notes: ODD }, undefined],
    ]);
    expect(losses).toEqual([]);
  });

  it("keeps a column that it does not know", async () => {
    const { items } = await read(chrome, utf8("name,url,username,password,note,extra\nA,,,,,secret\n"));
    expect(items[0]!.fields).toEqual([{ label: "extra", type: "CONCEALED", value: "secret" }]);
  });

  it.each([
    ["", "The file: does not begin with the header name,url,username,password"],
    ["a,https://a,b,secret\n", "The file: does not begin with the header name,url,username,password"],
    ["name,url,username,password\n", "The file: has no passwords"],
    ["name,url,username,password\na,b,c\n", "Row 2: has 3 values, and the header has 4"],
    ['name,url,username,password\na,b,c,"secret\n', "Row 2: has a quote that is not closed, or the file is cut off"],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(chrome, utf8(text))).toBe(message);
  });
});

describe("a file of chrome without a line feed at its end", () => {
  it("is read, and the report says that its last value may be cut off", async () => {
    const { items, losses } = await read(chrome, utf8("name,url,username,password\na,,b,secret-1\nc,,d,secret-2"));
    expect(items.map(valuesOf)).toEqual([
      { username: "b", password: "secret-1" },
      { username: "d", password: "secret-2" },
    ]);
    expect(losses).toEqual([
      {
        what: "the end of the last value, if the file is cut off: it does not end with a line feed",
        count: 1,
        examples: ["c"],
      },
    ]);
  });
});

describe("firefox", () => {
  it("reads every column, and takes only a UUID as an id", async () => {
    const { items, losses } = await read(firefox, utf8(FIREFOX));
    expect(items.map((item) => [item.title, item.urls, valuesOf(item), item.sourceId])).toEqual([
      [
        "example.com",
        [
          { href: "https://example.com", primary: true },
          { href: "https://login.example.com", label: "form action" },
        ],
        { username: "me", password: "secret-1" },
        GUID,
      ],
      [
        "router.local",
        [{ href: "https://router.local", primary: true }],
        { password: ODD, "HTTP realm": "Admin area" },
        undefined,
      ],
    ]);
    expect(items[0]).toMatchObject({ createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_002 });
    expect(lossesOf({ losses })).toEqual({ "dates of last use": 1 });
  });

  it("reads no value in part when the file is cut off", async () => {
    const whole = (await read(firefox, utf8(FIREFOX))).items.map(valuesOf);
    for (let length = 0; length < FIREFOX.length; length++) {
      const found = await read(firefox, utf8(FIREFOX.slice(0, length))).catch(() => undefined);
      expect(whole.slice(0, found?.items.length ?? 0)).toEqual((found?.items ?? []).map(valuesOf));
    }
  });
});

describe("columns", () => {
  it("with the same name are all kept", async () => {
    const { items } = await read(chrome, utf8("name,url,username,password,note,note,password\na,,b,secret-1,n,m,secret-2\n"));
    expect(valuesOf(items[0]!)).toEqual({
      username: "b",
      password: "secret-1",
      "note 6": "m",
      "password 7": "secret-2",
      notes: "n",
    });
  });
});

describe("the header", () => {
  it.each([
    [CHROME, [true, false]],
    [FIREFOX, [false, true]],
    ["url,username,password", [false, false]],
  ])("tells the browser: %.30s", (text, expected) => {
    expect([chrome, firefox].map((format) => format.matches(utf8(text), "a.csv"))).toEqual(expected);
  });
});
