import { describe, expect, it } from "vitest";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { client, LOGIN, makeToken, shareVault } from "../support/service.ts";

/**
 * The fields of an Item (contract 2.4, 2.7 to 2.13; test/pure/field-values.test.ts has how codes are computed), and its sections (contract 2.13 to
 * 2.15 and 2.22).
 */

const sharedVault = shareVault();

/** Sends an Item with these fields and sections. Returns the Item as GET has it, or the error. */
async function create(fields?: unknown, sections?: unknown): Promise<any> {
  const { items, call } = await sharedVault();
  const { status, body } = await call("POST", items, { body: { ...LOGIN, fields, sections } });
  return status === 200 ? (await call("GET", `${items}/${body.id}`)).body : body;
}

const ABSENT = [undefined, null, ""];
const ANY = expect.anything();
const GENERATED = expect.stringMatching(/^[a-z2-7]{26}$/);
const PURPOSES = ["USERNAME", "PASSWORD", "NOTES"];

/** A rule, the fields and sections of the request, and those of the answer. */
type Accepted = readonly [rule: string, fields: unknown[], expected: object[], sections?: object[], shownSections?: object[]];

/** Ids and labels that are other texts for some programs. */
const NAMES = ["10", "2", "__proto__", "constructor", "toString", "a/b~c", "~1", "\u{1F511}", "\u{1F5C2}\uFE0F", " spaces  "];
const MORE_NAMES = ["\u00e9", "e\u0301", "A", "a", "\u0000", '"\\', "1"];
const named = [...NAMES, ...MORE_NAMES].map((name) => ({ id: name, label: `${name} ` }));
const [longest, tooLong] = ["é".repeat(512), "x".repeat(1025)];
const labelled = Object.entries({ a: "A", b: "", c: longest, d: tooLong }).map(([id, label]) => ({ id, label }));

/** The id, the label and the type that a purpose gives. */
const DEFAULTS = [
  ["USERNAME", "username", "STRING"],
  ["PASSWORD", "password", "CONCEALED"],
  ["NOTES", "notesPlain", "STRING"],
] as const;

const ACCEPTED: readonly Accepted[] = [
  ...FIELD_TYPE_NAMES.map((type): Accepted => {
    const spellings = [type, type.toLowerCase(), type[0] + type.slice(1).toLowerCase()];
    return [`the type ${type} in any case`, spellings.map((one) => ({ type: one })), spellings.map(() => ({ type }))];
  }),
  ["TOTP, another name of OTP, in any case", [{ type: "Totp" }], [{ type: "OTP" }]],
  ...ABSENT.map((id): Accepted => {
    const sections = ["A", ""].map((label) => ({ id: GENERATED, label }));
    const sent = [{ id, label: "A" }, { id }];
    return [`generated ids for ${id}`, [{ id }, { id }], [{ id: GENERATED }, { id: GENERATED }], sent, sections];
  }),
  ...DEFAULTS.flatMap(([purpose, id, type]) =>
    ABSENT.map((absent): Accepted => {
      const sent = [{ id: absent, purpose: purpose.toLowerCase() }];
      return [
        `the id and label of the purpose ${purpose} for the id ${absent}`,
        sent,
        [{ id, type, purpose, label: id, value: "" }],
      ];
    }),
  ),
  ...PURPOSES.map((purpose): Accepted => {
    const field = { id: "x", label: "X", purpose };
    return [`an id and a label of its own beside the purpose ${purpose}`, [field], [field]];
  }),
  ...["STRING", "DATE", "OTP"].map((type): Accepted => {
    const field = { purpose: "PASSWORD", value: "x" };
    return [`the type CONCEALED for the purpose PASSWORD and ${type}`, [{ ...field, type }], [{ ...field, type: "CONCEALED" }]];
  }),
  [
    "each purpose once, beside fields without one",
    [{ purpose: "NOTES" }, {}, { purpose: "USERNAME" }, {}, { purpose: "PASSWORD" }],
    [{ purpose: "NOTES" }, { value: "" }, { purpose: "USERNAME" }, { value: "" }, { purpose: "PASSWORD" }],
  ],
  [
    "ids and labels byte for byte, in the order of the request",
    named.map((field) => ({ ...field, value: field.id })),
    named.map((field) => ({ ...field, value: field.id, type: "STRING" })),
    named,
    named,
  ],
  [
    "each undeclared section that a field names once, after the declared ones",
    ["b", "__proto__", "a", "b", "constructor"].map((id) => ({ section: { id } })),
    ["b", "__proto__", "a", "b", "constructor"].map((id) => ({ section: { id } })),
    [{ id: "a", label: "A" }],
    [{ id: "a", label: "A" }, ...["b", "__proto__", "constructor"].map((id) => ({ id, label: "" }))],
  ],
  [
    "one id of a field and of a section",
    [{ id: "x", section: { id: "x" } }],
    [{ id: "x", section: { id: "x", label: "X" } }],
    [{ id: "x", label: "X" }],
    [{ id: "x", label: "X" }],
  ],
  [
    "the label of its section in a field, where that has one of at most 1 KiB",
    labelled.map(({ id }) => ({ section: { id } })),
    [{ id: "a", label: "A" }, { id: "b" }, { id: "c", label: longest }, { id: "d" }].map((section) => ({ section })),
    labelled,
    labelled,
  ],
];

type Refused = readonly [rule: string, message: string, fields: readonly unknown[], sections?: readonly unknown[]];

const REFUSED: readonly Refused[] = [
  ...["PASSWORD", "STRING ", "\u017fTRING", "__proto__", "constructor", 5, {}].map(
    (type) => [`the type ${JSON.stringify(type)}`, "fields[1].type: ", [{}, { type }]] as const,
  ),
  ...["TOTP", "PASSWORD ", "\u017f", 1].map(
    (purpose) => [`the purpose ${purpose}`, "fields[1].purpose: ", [{}, { purpose }]] as const,
  ),
  ...PURPOSES.flatMap((purpose) => {
    const message = `fields[1].purpose: another field has the purpose ${purpose}`;
    return [
      [
        `the purpose ${purpose} twice`,
        message,
        [
          { id: "a", purpose },
          { id: "b", purpose: purpose.toLowerCase() },
        ],
      ] as const,
      [`the purpose ${purpose} twice without ids`, message, [{ purpose }, { purpose }]] as const,
    ];
  }),
  ...["x", "__proto__", "constructor"].flatMap((id) => {
    const entries = [{ id }, { id: "other" }, { id }];
    return [
      [`the id ${id} of two fields`, "fields[2].id: ", entries] as const,
      [`the id ${id} of two sections`, "sections[2].id: ", [], entries] as const,
    ];
  }),
  ["the id that a purpose gives to another field", "fields[1].id: ", [{ purpose: "PASSWORD" }, { id: "password" }]],
  [
    "a malformed secret",
    "fields[0].value: is not an otpauth://totp URI or a base32 secret",
    [{ type: "OTP", value: "08secret80" }],
  ],
];

describe("The fields and sections of an Item", () => {
  it.each(ACCEPTED.map((row) => [row[0], row] as const))(
    "have %s",
    async (_, [, fields, expected, sections, shownSections = ANY]) => {
      const item = await create(fields, sections);
      expect(item.fields).toMatchObject(expected);
      expect(item.sections).toEqual(shownSections);
      for (const list of [item.fields, item.sections])
        expect(new Set(list.map(({ id }: { id: string }) => id)).size).toBe(list.length);
    },
  );

  it.each([
    ...ABSENT.flatMap((absent) => [{ type: absent }, { purpose: absent }, { label: absent ?? undefined }]),
    ...[undefined, null, {}, { id: "" }, { id: null }].map((section) => ({ section })),
  ])("have nothing for an absent attribute: %j", async (field) => {
    const item = await create([{ id: "f", ...field }]);
    expect([item.fields, item.sections]).toEqual([[{ id: "f", type: "STRING", label: "", value: "" }], []]);
  });

  it.each(REFUSED.map((row) => [row[0], row] as const))("cannot have %s", async (_, [, message, fields, sections]) => {
    expect(await create(fields, sections)).toEqual({ status: 400, message: expect.stringContaining(message) });
  });
});

describe("The section of a field", () => {
  it("changes nothing in a PUT of what GET answered, and renames no section", async () => {
    const { items, call } = await sharedVault();
    const sections = [{ id: "a", label: "A" }, { id: "b" }];
    const fields = [
      { id: "f", section: { id: "a" } },
      { section: { id: "b" } },
      { section: { id: "c", label: "C" } },
      { id: "g" },
    ];
    const { body: created } = await call("POST", items, { body: { ...LOGIN, sections, fields } });
    const path = `${items}/${created.id}`;
    const got = (await call("GET", path)).body;
    expect(got).toEqual(created);
    const { body: put } = await call("PUT", path, { body: got });
    expect([put.sections, put.fields]).toEqual([got.sections, got.fields]);
    const renamed = [{ id: "a", label: "New" }, ...got.sections.slice(1)];
    const after = (await call("PUT", path, { body: { ...got, sections: renamed } })).body;
    expect([after.sections, after.fields[0].section]).toEqual([renamed, renamed[0]]);
    const patch = [{ op: "replace", path: "/fields/f/section", value: { id: "a", label: "Other" } }];
    const patched = (await call("PATCH", path, { body: patch })).body;
    expect([patched.sections, patched.fields[0].section]).toEqual([renamed, renamed[0]]);
  });

  it("is declared with its label by a PUT without the list of sections", async () => {
    const { items, call } = await sharedVault();
    const created = await create([{ section: { id: "a", label: "A" } }]);
    const { body } = await call("PUT", `${items}/${created.id}`, { body: { ...created, sections: undefined } });
    expect(body.sections).toEqual([{ id: "a", label: "A" }]);
  });
});

/** A value that is none of its type (contract 2.10). */
const NO_VALUE = { status: 400, message: expect.stringMatching(/^fields\[0\]\.value: /) };

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
    expect((await create([{ type, value }])).fields[0]).toMatchObject({ type, value });
  });

  it.each(invalid)("refuses the value %j", async (value) => {
    expect(await create([{ type, value }])).toEqual(NO_VALUE);
  });

  it("is validated also when its type is written in lower case, and by PUT", async () => {
    expect(await create([{ type: type.toLowerCase(), value: "x" }])).toEqual(NO_VALUE);
    const { items, call } = await sharedVault();
    const item = await create();
    expect((await call("PUT", `${items}/${item.id}`, { body: { ...item, fields: [{ type, value: "x" }] } })).body).toEqual(
      NO_VALUE,
    );
  });
});

it.each([
  ["DATE", "2025-10-31", "1761912000"],
  ["DATE", "1969-12-31", "-43200"],
  ["DATE", "0099-01-01", "-59042952000"],
  ["DATE", "1761912060", "1761912060"],
  ["DATE", "", ""],
  ["MONTH_YEAR", "2025/10", "202510"],
  ["MONTH_YEAR", "202510", "202510"],
  ["STRING", "2025-10-31", "2025-10-31"],
])(
  "In the dialect connect, a %s field that was written as %j is %j, as in Connect (contract 3.5)",
  async (type, value, expected) => {
    const { vault, items, call } = await sharedVault();
    const connect = client((await makeToken({ [vault]: "rw" }, { dialect: "connect" })).token);
    const { body } = await connect("POST", items, { body: { ...LOGIN, fields: [{ id: "f", type, value }] } });
    expect(body.fields[0].value).toBe(expected);
    expect((await call("GET", `${items}/${body.id}`)).body.fields[0].value).toBe(value);
  },
);

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // the secret of RFC 6238 appendix B
// With a period of 999,999,999 seconds the counter is 1 until 2033, so the code is that of the first test vector of the RFC.
const URI = `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999&issuer=ACME`;
const CODE = "94287082";
const SIX_DIGITS = expect.stringMatching(/^\d{6}$/);

describe("a field of type OTP", () => {
  it("is returned byte for byte with the current code by POST, GET, PUT and PATCH, and not in a list", async () => {
    const { items, call } = await sharedVault();
    const fields = [{ id: "otp", type: "OTP", value: URI }];
    const posted = (await call("POST", items, { body: { ...LOGIN, fields } })).body;
    const path = `${items}/${posted.id}`;
    const put = await call("PUT", path, { body: { ...posted, fields } });
    const patched = await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "T" }] });
    for (const item of [posted, put.body, patched.body, (await call("GET", path)).body])
      expect(item.fields).toEqual([{ ...fields[0], label: "", totp: CODE }]);
    expect((await call("GET", items)).text).not.toContain(CODE);
  });

  it.each<[rule: string, field: object, value: string, code: unknown]>([
    ["a base32 secret, whose codes have six digits", { value: SECRET.toUpperCase() }, SECRET.toUpperCase(), SIX_DIGITS],
    ["the type TOTP", { value: URI, type: "totp" }, URI, CODE],
    ["a code, which is ignored", { value: URI, totp: "000000" }, URI, CODE],
    ["no value, and then has no code", { value: "" }, "", undefined],
    ["null, and then has no code", { value: null }, "", undefined],
    ["another type, and then has no code: STRING", { value: URI, type: "STRING" }, URI, undefined],
    ["another type, and then has no code: CONCEALED", { value: URI, type: "CONCEALED" }, URI, undefined],
    ["another type, and then has no code: URL", { value: URI, type: "URL" }, URI, undefined],
  ])("may be written with %s", async (_, field, value, code) => {
    const [made] = (await create([{ type: "OTP", ...field }])).fields;
    expect([made.value, made.totp]).toEqual([value, code]);
  });

  it("cannot be made by PATCH from a field whose value is not a secret; the Item is unchanged", async () => {
    const { items, call } = await sharedVault();
    const item = await create([{ id: "otp", value: "No. 1" }]);
    const body = [{ op: "replace", path: "/fields/otp/type", value: "OTP" }];
    expect((await call("PATCH", `${items}/${item.id}`, { body })).status).toBe(400);
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(item);
  });
});
