import { parseEnv } from "node:util";
import type { Call } from "@item-vault/client";
import { sharedNames } from "@item-vault/transfer/shared-names";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fitTransfer } from "../../../packages/transfer/src/fit.ts";
import { dotenvExport } from "../../../packages/transfer/src/formats/dotenv-export.ts";
import { derivedId, emptyState, fileOf } from "../../../packages/transfer/src/item-parts.ts";
import type { TransferField, TransferItem } from "../../../packages/transfer/src/item.ts";
import { createPace } from "../../../packages/transfer/src/pace.ts";
import { dateOfSeconds, otpUri } from "../../../packages/transfer/src/values.ts";

const itemWith = (changes: Partial<TransferItem>): TransferItem => ({
  ...emptyState("Item", "LOGIN"),
  sourceId: "1",
  vault: undefined,
  archived: false,
  files: [],
  history: [],
  ...changes,
});

const fit = (changes: Partial<TransferItem>) => {
  const { items, losses, unfit } = fitTransfer({ source: "s", items: [itemWith(changes)], losses: [] });
  return {
    item: items[0],
    losses: losses.list().map(({ what, count }) => `${count} ${what}`),
    unfit: unfit.map(({ why }) => why),
  };
};

const fields = (...list: TransferField[]) => fit({ fields: list });
const long = "x".repeat(64 * 1024 + 1);

describe("an Item of a source", () => {
  it.each([
    ["DATE", "29 February 2024", "STRING"],
    ["MONTH_YEAR", "13/2024", "STRING"],
    ["OTP", "otpauth://hotp/x?secret=AAAA", "CONCEALED"],
  ])("keeps a value that %s refuses as %s", (type, value, kept) => {
    const { item, losses } = fields({ type, value });
    expect(item!.fields).toEqual([{ type: kept, value }]);
    expect(losses).toEqual([`1 values that are no ${type}, kept as ${kept}`]);
  });

  it("keeps a value that is too long as a File", async () => {
    const { item, losses } = fields({ label: "big", value: long });
    expect(item!.fields).toEqual([]);
    expect(item!.files.map(({ name, size }) => [name, size])).toEqual([["big.txt", long.length]]);
    expect(losses).toEqual(["1 values over 64 KiB, kept as Files"]);
  });

  it("counts values that are too long and that only earlier versions have", () => {
    const history = [emptyState("Item", "LOGIN"), { ...emptyState("Item", "LOGIN"), fields: [{ label: "big", value: long }] }];
    expect(fit({ history }).losses).toEqual(["1 values over 64 KiB that only earlier versions have"]);
  });

  it("keeps the whole of a title that is too long in a field", () => {
    const { item } = fit({ title: "ü".repeat(600) });
    expect(Buffer.byteLength(item!.title)).toBeLessThanOrEqual(1024);
    expect(item!.fields).toEqual([{ label: "title", type: "STRING", value: "ü".repeat(600) }]);
  });

  it("has each id and each purpose once", () => {
    const { item } = fields({ id: "a", purpose: "NOTES", value: "1" }, { id: "a", purpose: "NOTES", value: "2" });
    expect(item!.fields).toEqual([
      { id: "a", purpose: "NOTES", type: "STRING", value: "1" },
      { type: "STRING", value: "2" },
    ]);
  });

  it("leaves the id of a purpose to the field of the purpose", () => {
    const { item } = fields({ id: "password", value: "1" }, { purpose: "PASSWORD", value: "2" });
    expect(item!.fields.map(({ id }) => id)).toEqual([undefined, undefined]);
  });

  it("has types and purposes as the service names them", () => {
    const { item, losses } = fields(
      { type: "date", purpose: "username", value: "2024-02-29" },
      { type: "Totp", value: "x" },
      { purpose: "X" },
    );
    expect(item!.fields.map(({ type, purpose }) => [type, purpose])).toEqual([
      ["DATE", "USERNAME"],
      ["CONCEALED", undefined],
      ["STRING", undefined],
    ]);
    expect(losses).toEqual([
      "1 values that are no OTP, kept as CONCEALED",
      "1 purposes of fields that the service does not have",
    ]);
  });

  it("has the password that its category needs", () => {
    expect(fit({ category: "PASSWORD" }).item!.fields).toEqual([{ purpose: "PASSWORD", type: "CONCEALED", value: "" }]);
  });

  it("has no halves of surrogate pairs", () => {
    const { item, losses } = fields({ value: "\ud800" });
    expect(item!.fields[0]!.value).toBe("\ufffd");
    expect(losses).toEqual(["1 halves of surrogate pairs, replaced by U+FFFD"]);
  });

  it("has backslashes as they are", () => {
    expect(fields({ value: String.raw`C:\udabc\ud800` })).toMatchObject({ losses: [] });
  });

  it("counts names of Files that are changed", () => {
    const files = ["", "x".repeat(5_000), "good"].map((name) => fileOf(name, new Uint8Array()));
    expect(fit({ files }).losses).toEqual(["2 names of Files that are empty or over 1 KiB, changed"]);
  });

  it("counts the versions that the service does not keep", () => {
    const history = Array.from({ length: 12 }, (_, index) => emptyState(`State ${index}`, "LOGIN"));
    expect(fit({ history }).losses).toEqual([
      "2 earlier versions beyond the newest 10 (unless VERSIONS_KEPT of the service is higher)",
    ]);
  });

  it("loses Files over 100 MB", () => {
    const file = { ...fileOf("big", new Uint8Array()), size: 100_000_001 };
    expect(fit({ files: [file] })).toMatchObject({ item: { files: [] }, losses: ["1 Files over 100 MB"] });
  });

  it.each<[string, Partial<TransferItem>]>([
    ["has more than 1000 fields", { fields: Array.from({ length: 1001 }, () => ({ value: "" })) }],
    ["has more than 1000 Files", { files: Array.from({ length: 1001 }, () => fileOf("a", new Uint8Array())) }],
    ["has a tag, an address, a label or an id over 64 KiB", { tags: [long] }],
    [
      "is larger than 512 KiB",
      { fields: Array.from({ length: 1000 }, (_, n) => ({ section: { id: "s".repeat(200) + n } })) }, // the service declares them
    ],
    ["is larger than 512 KiB", { fields: Array.from({ length: 7 }, () => ({ value: "x".repeat(64 * 1024) })) }],
  ])("does not fit if it %s", (why, changes) => {
    expect(fit(changes)).toMatchObject({ item: undefined, unfit: [why] });
  });
});

describe("a one-time code", () => {
  it.each([
    "otpauth://totp/Steam:ada?secret=JBSWY3DPEHPK3PXP&issuer=Steam",
    "otpauth://totp/Steam%3Aada?secret=JBSWY3DPEHPK3PXP",
    "otpauth://totp/ada?secret=JBSWY3DPEHPK3PXP&issuer=steam&digits=5",
    "otpauth://totp/ada?secret=JBSWY3DPEHPK3PXP&period=30&digits=5&encoder=steam",
    "otpauth://steam/ada?secret=JBSWY3DPEHPK3PXP",
    "steam://JBSWY3DPEHPK3PXP",
  ])("of Steam stays as concealed text, and the report names it: %s", (value) => {
    const { item, losses } = fields({ type: "OTP", value });
    expect(item!.fields).toMatchObject([{ type: "CONCEALED", value }]);
    expect(losses).toEqual(["1 values that are no OTP, kept as CONCEALED"]);
  });

  it.each([
    "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example",
    "otpauth://totp/Steamboat:steam?secret=JBSWY3DPEHPK3PXP",
    "JBSWY3DPEHPK3PXP",
  ])("of others is an OTP field: %s", (value) => {
    expect(fields({ type: "OTP", value })).toMatchObject({ item: { fields: [{ type: "OTP" }] }, losses: [] });
  });
});

describe("the id of a new Item", () => {
  it("is a UUID of version 8 that depends on format, source and id", () => {
    const ids = [
      ["a", "b", "c"],
      ["a", "b", "d"],
      ["a", "bc", ""],
      ["ab", "", "c"],
    ].map(([f, s, i]) => derivedId(f!, s!, i!));
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it.each([
    ["1pux", "1password", "A/x", "59ec80df-ec5a-83ee-ad61-2a0722ea424a"],
    ["bitwarden", "bitwarden", "3f0a5ce0-6f5f-4f2b-9a1c-7a8c2f1d0e11", "47cf1fe5-5a85-880b-9b0d-e70d1ecdc2cb"],
    ["firefox", "firefox", "ü 🔑", "c400c7fc-ccf2-8629-a0bb-9d0248d3b729"],
  ])("never changes: an import of %s continues those before it", (format, source, id, derived) => {
    expect(derivedId(format, source, id)).toBe(derived);
  });
});

describe("values", () => {
  it.each([
    [946_728_000, "2000-01-01"],
    [946_684_800, "2000-01-01"],
    [946_684_801, "946684801"],
    [-62_135_553_600, "0001-01-01"],
    [1e15, "1000000000000000"],
  ])("%d seconds are the date %s", (seconds, date) => expect(dateOfSeconds(seconds)).toBe(date));

  it("gives the key URI of a one-time password", () => {
    expect(otpUri({ secret: "JBSW Y3DP", issuer: "A B", account: "ada", digits: 8 })).toBe(
      "otpauth://totp/A%20B%3Aada?secret=JBSWY3DP&issuer=A%20B&digits=8",
    );
  });
});

describe("export to .env", () => {
  it("gives lines that Node and sh read back, and leaves out what not both read", async () => {
    const values = ["plain", "two words", "it's", 'a "b" c', "line\nbreak", "$HOME `x`", "#no comment", " spaces "];
    const list = values.map((value, index) => ({ label: `KEY_${index}`, value }));
    const { bytes, losses } = await dotenvExport.write([itemWith({ fields: [...list, { label: "bad", value: "'`" }] })], {});
    expect(Object.values(parseEnv(Buffer.from(bytes).toString()))).toEqual(values);
    expect(losses.map(({ count }) => count)).toEqual([1]);
  });

  it("gives each field a name of its own", async () => {
    const items = ["Prod DB", "Prod DB"].map((title) =>
      itemWith({ title, fields: [{ purpose: "PASSWORD", label: "password", value: "x" }] }),
    );
    const { bytes } = await dotenvExport.write(items, {});
    expect(Buffer.from(bytes).toString()).toBe("PROD_DB_PASSWORD='x'\nPROD_DB_PASSWORD_2='x'\n");
  });

  it("a .env file has no name that a shell or a program obeys, neither of a label nor of a title", async () => {
    const list = ["PATH", "_", "LD_PRELOAD"].map((label) => ({ label, value: "x" }));
    const items = [itemWith({ title: "Git", fields: list }), itemWith({ title: "", fields: [{ label: "path", value: "x" }] })];
    const { bytes } = await dotenvExport.write(items, {});
    expect(Buffer.from(bytes).toString().match(/^\w+/gm)).toEqual([
      "FIELD_GIT_PATH",
      "GIT",
      "FIELD_GIT_LD_PRELOAD",
      "FIELD_PATH",
    ]);
  });
});

/** Items of a text: of each the name of its vault and, after a slash, its id. */
const inVaults = (text: string) =>
  text.split(" ").map((one) => {
    const [vault, vaultId] = one.split("/");
    return vaultId === undefined ? { vault: vault || undefined } : { vault, vaultId };
  });

describe("the names that several vaults of a source have", () => {
  it.each([
    ["one vault", "A/1 A/1", []],
    ["two vaults of one name", "A/1 A/2", [{ name: "A", count: 2 }]],
    ["two vaults of one name in another case, without ids", "A a", [{ name: "A", count: 2 }]],
    ["a vault of which some Items do not have the id", "A/1 A", []],
    ["the same in another case", "A/1 a", [{ name: "A", count: 2 }]],
    ["Items without a vault", " ", []],
  ])("of %s", (_, text, shared) => expect(sharedNames(inVaults(text))).toEqual(shared));
});

it("the requests of all clients together begin at the rate at most, after a burst of 50", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const begun: number[] = [];
  const call = (async () => void begun.push(performance.now())) as unknown as Call;
  const pace = createPace(100);
  const clients = [1, 2].map(() => pace({ call }));
  const start = performance.now();
  for (let count = 0; count < 75; count++) for (const client of clients) void client.call("GET /v1/vaults");
  await vi.advanceTimersByTimeAsync(2000);
  expect(begun).toHaveLength(150);
  expect(begun.filter((at) => at === start)).toHaveLength(51);
  expect(begun.at(-1)! - start).toBeGreaterThanOrEqual(985);
});
