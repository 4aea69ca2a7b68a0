import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chooseImport, IMPORT_FORMATS, parseColumns } from "../../../../packages/cli/src/transfer/formats.ts";
import { fitTransfer } from "../../../../packages/transfer/src/fit.ts";
import { csv, CSV_FORMATS } from "../../../../packages/transfer/src/formats/csv.ts";
import { DIALECTS } from "../../../../packages/transfer/src/formats/csv/dialects.ts";
import { columnsIn } from "../../../../packages/transfer/src/formats/csv/header.ts";
import { CHOICES } from "../../../../packages/transfer/src/formats/csv/parts.ts";
import type { TransferItem } from "../../../../packages/transfer/src/item.ts";
import { ODD } from "./bitwarden-fixture.ts";
import { lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";
import { CHROME, FIREFOX, GUID, PROGRAMS } from "./text-fixture.ts";

const named = (name: string) => IMPORT_FORMATS.find((format) => format.name === name)!;
const [chrome, firefox] = [named("chrome"), named("firefox")];
const FILES: Readonly<Record<string, string>> = { chrome: CHROME, firefox: FIREFOX, ...PROGRAMS };

/** The names of the formats whose signs a file has. */
const matching = (text: string) => IMPORT_FORMATS.filter((format) => format.matches(utf8(text), "a.csv")).map(({ name }) => name);

const OTP = "otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP";
const SECRET = "JBSWY3DPEHPK3PXP";

/** The parts of an Item in a text: its category and title, addresses, fields, tags and so on. */
const partsOf = (text: string) => text.split(" | ").toSorted();

/** What an Item has, without what is empty. */
const shown = ({ title, category, tags, urls, favorite, archived, vault, fields }: TransferItem) =>
  [
    `${category} ${title}`,
    ...urls.map(({ href, label }) => (label ? `${label}: ${href}` : href)),
    ...fields.map(({ label, purpose, type, value }) => `${label ?? purpose} ${type} = ${value}`),
    ...tags.map((tag) => `#${tag}`),
    ...(favorite ? ["favorite"] : []),
    ...(archived ? ["archived"] : []),
    ...(vault ? [`in ${vault}`] : []),
  ].toSorted();

const ADA = "USERNAME STRING = ada | PASSWORD CONCEALED = pw1 | NOTES STRING = memo";
const SHOP = `LOGIN Shop | https://shop.example | ${ADA}`;
const CARD = "CREDIT_CARD My card | number CREDIT_CARD_NUMBER = 4111111111111111 | verification number CONCEALED = 123";

const READ: Readonly<Record<string, readonly [items: readonly string[], losses: Record<string, number>]>> = {
  safari: [[`${SHOP} | one-time password OTP = ${OTP}`], {}],
  lastpass: [
    [
      `${SHOP} | one-time password OTP = ${SECRET} | #Work/Web | favorite`,
      "SECURE_NOTE Memo | NOTES STRING = NoteType:Server\nHostname:db",
    ],
    {},
  ],
  dashlane: [[`${SHOP} | username2 STRING = ada@shop.example | one-time password OTP = ${SECRET} | #Web`], {}],
  "keepassxc-csv": [[`${SHOP} | one-time password OTP = ${OTP} | #Work`], { "icons of entries": 1 }],
  protonpass: [
    [
      `${SHOP} | https://my.shop.example | email EMAIL = ada@shop.example | one-time password OTP = ${OTP} | in Personal`,
      "LOGIN Mail | https://mail.example | USERNAME STRING = ada@mail.example | PASSWORD CONCEALED = pw2 | in Personal",
      `${CARD} | cardholder name STRING = Ada | expiry date MONTH_YEAR = 202712 | extra CONCEALED = [1] | NOTES STRING = memo | in Personal`,
    ],
    {},
  ],
  roboform: [
    [`${SHOP.replace("pw1", "@pw1")} | one-time password OTP = ${SECRET} | PIN CONCEALED = 1,2 | #Work`],
    { "quotes that RoboForm adds before = + - @ and quotes, removed": 1 },
  ],
  "1password-csv": [[`${SHOP} | one-time password OTP = ${OTP} | #work | #web | favorite | archived`], {}],
  "bitwarden-csv": [
    [
      `${SHOP} | https://my.shop.example | PIN CONCEALED = 1:2 | Key CONCEALED = a\nb | one-time password OTP = ${SECRET} | #Work | favorite`,
    ],
    { "settings that ask for the master password again": 1 },
  ],
  nordpass: [
    [
      `${SHOP} | https://my.shop.example | PIN CONCEALED = 12 | #Work`,
      `${CARD} | cardholder name STRING = Ada Example | PIN CONCEALED = 9 | expiry date MONTH_YEAR = 202712 | postal code STRING = 1010`,
      "IDENTITY Me | postal code STRING = 1010 | full name STRING = Ada Example | phone PHONE = 555 | email EMAIL = ada@shop.example" +
        " | address STRING = Street 1 | city STRING = City | country STRING = XX | state STRING = ST",
      "SECURE_NOTE Memo | NOTES STRING = the memo",
    ],
    { "folders without Items": 1 },
  ],
};

describe("the CSV file of a program", () => {
  it.each(Object.entries(FILES))("is recognized by the columns of its header, in any case and order: %s", (name, text) => {
    const [header = "", ...rows] = text.split(/\r?\n/);
    const columns = header.split(",");
    expect(matching(text)).toEqual([name]);
    expect(matching(`\uFEFF${[header.toUpperCase(), ...rows].join("\r\n")}`)).toEqual([name]);
    expect(matching([...columns.slice(1), columns[0]].join(","))).toEqual([name]);
  });

  it.each(Object.keys(READ))("gives its Items, and every value that is not one is counted: %s", async (name) => {
    const { items, losses } = await read(named(name), utf8(FILES[name]!));
    const [expected, counted] = READ[name]!;
    expect([items.map(shown), lossesOf({ losses })]).toEqual([expected.map(partsOf), counted]);
  });

  it.each([";", "\t"])("is read with the delimiter %j, also after a line that names it", async (delimiter) => {
    const text = FILES["safari"]!.replaceAll(",", delimiter);
    expect(matching(text)).toEqual(["safari"]);
    const expected = (await read(named("safari"), utf8(FILES["safari"]!))).items;
    expect((await read(named("safari"), utf8(text))).items).toEqual(expected);
    expect((await read(named("safari"), utf8(`sep=${delimiter}\r\n${text}`))).items).toEqual(expected);
  });

  it.each(["utf16le", "utf16be"])("is read in the encoding that spreadsheets call Unicode text: %s", async (encoding) => {
    const text = Buffer.from(`\uFEFF${FILES["safari"]!.replaceAll(",", "\t")}`, "utf16le");
    const bytes = encoding === "utf16le" ? text : text.swap16();
    const format = chooseImport(bytes, "a.txt", undefined);
    expect([format.name, (await read(format, bytes)).items.map(({ title }) => title)]).toEqual(["safari", ["Shop"]]);
  });

  it("has a test of its Items for every dialect", () => {
    expect([...Object.keys(READ), "chrome", "firefox"].toSorted()).toEqual(DIALECTS.map(({ name }) => name).toSorted());
  });

  it("of an older or a newer release is recognized, and a column that is new becomes hidden fields, which are counted by its name", async () => {
    const older =
      "name,url,username,password,note,cardholdername,cardnumber,cvc,expirydate,zipcode,folder,full_name,phone_number,email,address1,address2,city,country,state";
    expect(matching(`${older}\n`)).toEqual(["nordpass"]);
    const newer = `${older},color`;
    expect(matching(`${newer}\n`)).toEqual(["nordpass"]);
    const row = `Shop,https://shop.example,ada,pw1${",".repeat(15)},red`;
    const { items, losses } = await read(named("nordpass"), utf8(`${newer}\n${row}\n`));
    expect(valuesOf(items[0]!)).toEqual({ username: "ada", password: "pw1", color: "red" });
    expect(losses).toEqual([{ what: "values of the column “color”, kept as hidden fields", count: 1, examples: ["Shop"] }]);
  });

  it("is not taken for that of another program that has the same first columns", () => {
    expect(matching("name,url,username,password,color\n")).toEqual([]);
    expect(matching("url,username,password\n")).toEqual([]);
    expect(() => chooseImport(utf8("name,url,username,password,color\n"), "a.csv", undefined)).toThrow(
      "The columns of a.csv match no known program",
    );
  });

  const LINES = ["name,url,username,password,note", 'Shop,,ada,pw1,"one\r\ntwo\nthree"', "Last,,ada,pw2,memo", ""];
  const MIXED = LINES.map((line, n) => `${line}${["\n", "\r\n", "\n", ""][n]}`).join("");

  it.each([LINES.join("\n"), LINES.join("\r\n"), MIXED])(
    "is read with line breaks of both kinds, and keeps those in quotes: %j",
    async (text) => {
      expect((await read(chrome, utf8(text))).items.map(valuesOf)).toEqual([
        { username: "ada", password: "pw1", notes: "one\r\ntwo\nthree" },
        { username: "ada", password: "pw2", notes: "memo" },
      ]);
    },
  );

  it("may have columns without a name, whose values are kept", async () => {
    const text = "name,url,username,password,\nShop,,ada,pw1,\nOther,,ada,pw2,red\n";
    expect(matching(text)).toEqual(["chrome"]);
    const { items, losses } = await read(chrome, utf8(text));
    expect(items.map(valuesOf)).toEqual([
      { username: "ada", password: "pw1" },
      { username: "ada", password: "pw2", "": "red" },
    ]);
    expect(losses).toHaveLength(1);
  });

  it("has rows without a value, which are no Items", async () => {
    const text = "name,url,username,password,note\n\nShop,https://shop.example,ada,pw1,\n,,,,\n , ,,,\n";
    expect((await read(chrome, utf8(text))).items.map(({ title }) => title)).toEqual(["Shop"]);
  });

  it("has rows of another length, which are named by their titles and left out with the option", async () => {
    const text = 'name,url,username,password\nShop,https://shop.example,ada,pw1\nOdd,a,b\n"Two\nlines",a,b,c,d\nFine,,,pw,,\n';
    const { items, unfit } = fitTransfer(await read(chrome, utf8(text)));
    expect(items.map(({ title }) => title)).toEqual(["Shop", "Fine"]);
    expect(unfit).toEqual([
      { title: "Odd", why: "cannot be read: The row has 3 values but the header has 4" },
      { title: "Two\nlines", why: "cannot be read: The row has 5 values but the header has 4" },
    ]);
  });
});

/** Values of which each has a marker, in the forms that columns have. */
const FORMS: readonly ((marker: string) => string)[] = [
  (marker) => marker,
  (marker) => `${marker}: ${marker}a\n${marker}b`,
  (marker) => `${marker}a\\${marker}b;${marker}c, https://${marker}d`,
  (marker) => JSON.stringify([`${marker}a`, { url: `${marker}b` }, { x: `${marker}c` }, 1, null]),
  (marker) => JSON.stringify([{ label: `${marker}a`, type: "text", value: `${marker}b`, more: `${marker}c` }]),
  (marker) => JSON.stringify({ note: `${marker}a`, number: 5, other: [`${marker}b`] }),
  (marker) => `${marker}a$,,,txt,${marker}b`,
];

describe.each(DIALECTS)("a row of $name", ({ name, columns, kinds = {} }) => {
  const keys = Object.keys(columns);
  const needed = DIALECTS.find((one) => one.name === name)!.signs[0]!.split(" ");

  /** The values of a row that are neither in the Items nor counted. */
  async function lostOf(values: Readonly<Record<string, string>>): Promise<string[]> {
    const header = [...new Set([...needed, ...Object.keys(values)])];
    const row = header.map((key) => `"${(values[key] ?? "").replaceAll('"', '""')}"`);
    const { items, losses, unfit } = await read(named(name), utf8(`${header.join(",")}\n${row.join(",")}\n`));
    expect(unfit).toEqual([]);
    const whole = JSON.stringify(items);
    const isKept = (value: string) => (value.match(/mark\d*[a-d]?/g) ?? []).every((marker) => whole.includes(marker));
    const counted = losses.reduce((sum, { count }) => sum + count, 0);
    return Object.values(values)
      .filter((value) => !isKept(value))
      .slice(counted);
  }

  it("loses no value silently, whichever column and kind it is of, and whatever its form", async () => {
    const kindColumn = keys.find((key) => columns[key] === "kind");
    for (const kind of ["", ...Object.keys(kinds)])
      for (const key of keys)
        for (const form of FORMS)
          expect([key, await lostOf({ ...(kindColumn ? { [kindColumn]: kind } : {}), [key]: form("mark") })]).toEqual([key, []]);
    expect(await lostOf(Object.fromEntries(keys.map((key, n) => [key, `mark${n}`])))).toEqual([]);
  });
});

describe("chrome", () => {
  it("reads every column", async () => {
    const { items, losses } = await read(chrome, utf8(`\uFEFF${CHROME}`));
    expect(items.map((item) => [item.title, item.urls[0]?.href, valuesOf(item), item.sourceId])).toEqual([
      ["example.com", "https://example.com/login", { username: "me", password: "secret-1" }, undefined],
      ["com.example", "android://hash@com.example/", { username: "you", password: `secret ${ODD}`, notes: ODD }, undefined],
    ]);
    expect(losses).toEqual([]);
  });

  it.each([
    ["", "The file does not have the columns of Chrome, Edge, Brave and others"],
    ["a,https://a,b,secret\n", "The file does not have the columns of Chrome, Edge, Brave and others"],
    ["name,url,username,password\n", "The file has no passwords"],
    ['name,url,username,password\na,b,c,"secret\n', "Row 2 has a quote that is not closed, or the file is cut off"],
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
      { what: "the file does not end with a line break: check that its last value is complete", count: 1, examples: ["c"] },
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
    expect(lossesOf({ losses })).toEqual({ "dates of last use": 1, "ids that are not UUIDs": 1 });
  });

  it("reads no value in part when the file is cut off", async () => {
    const whole = (await read(firefox, utf8(FIREFOX))).items.map(valuesOf);
    for (let length = 0; length < FIREFOX.length; length++) {
      const found = await read(firefox, utf8(FIREFOX.slice(0, length))).catch(() => undefined);
      expect(whole.slice(0, found?.items.length ?? 0)).toEqual((found?.items ?? []).map(valuesOf));
    }
  });
});

const choose = (...given: string[]) => ({ columns: parseColumns(given) });

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

  const OTHER = "Login Name;Secret;PIN;Where;Color\nada;pw1;12;https://shop.example;red\n";

  it("of an unknown file are what the user says, then what their names say, else hidden fields that are counted", async () => {
    const chosen = choose("where=url", "COLOR = ignore", "PIN=text");
    const { items, losses } = await read(csv, utf8(OTHER), chosen);
    const login =
      "LOGIN shop.example | https://shop.example | USERNAME STRING = ada | PASSWORD CONCEALED = pw1 | PIN STRING = 12";
    expect(items.map(shown)).toEqual([partsOf(login)]);
    expect(lossesOf({ losses })).toEqual({ "values of the column “Color”": 1 });
    const guessed = await read(csv, utf8(OTHER));
    expect(lossesOf(guessed)).toEqual({
      "values of the column “PIN”, kept as hidden fields": 1,
      "values of the column “Where”, kept as hidden fields": 1,
      "values of the column “Color”, kept as hidden fields": 1,
    });
  });

  it("of an unknown file make it CSV once the user has said what one is", () => {
    expect(() => chooseImport(utf8(OTHER), "a.txt", undefined)).toThrow("match no known program");
    expect(chooseImport(utf8(OTHER), "a.txt", undefined, true).name).toBe("csv");
    expect(chooseImport(utf8(CHROME), "a.csv", undefined, true).name).toBe("chrome");
    expect(() => chooseImport(utf8("{}"), "a.json", "item-vault", true)).toThrow("--map is for CSV files");
    expect(columnsIn(utf8(OTHER), "a.txt")?.map(({ part }) => part)).toEqual([
      "username",
      "password",
      undefined,
      undefined,
      undefined,
    ]);
    expect(columnsIn(utf8("A=1, 2\nB=3\n"), "a.txt")).toBeUndefined();
  });

  it.each(["Login", "=username", "Login=", "Login=constructor", "Login=kind"])("are not said by --map %j", (text) => {
    expect(() => parseColumns([text])).toThrow("--map takes COLUMN=PART");
  });

  it("may have equals signs in their names", () => {
    expect(parseColumns(["a=b=url"])).toEqual(new Map([["a=b", "url"]]));
  });

  it("that the file does not have are refused, and so is a file without a header", async () => {
    expect(await refusal(csv, utf8(OTHER), choose("Nothing=url"))).toBe("The header has no column “nothing”");
    expect(await refusal(csv, utf8("ada;pw1\n"))).toBe("The header has no column whose name says what it is");
  });

  it.each(CHOICES)("can be $name, and no value of a row with each part twice is lost", async ({ name }) => {
    const text = "Title,One,Two\nShop,a value,another value\n";
    const { items, losses } = await read(csv, utf8(text), choose(`One=${name}`, `Two=${name}`));
    const whole = JSON.stringify([items, losses]);
    const kept = ["a value", "another value"].filter((value) => whole.includes(value)).length;
    const counted = losses.reduce((sum, { count }) => sum + count, 0);
    expect(kept + counted).toBe(2);
  });
});

it("docs/import.md names every program of the table, its format and every part of --map", () => {
  const text = readFileSync("docs/import.md", "utf8");
  for (const { program } of DIALECTS) expect(text).toContain(program);
  for (const { name } of CSV_FORMATS) expect(text).toContain(`\`${name}\``);
  for (const { name } of CHOICES) expect(text).toContain(`\`${name}\``);
});
