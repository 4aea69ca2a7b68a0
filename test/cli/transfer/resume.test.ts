import { type Client, createClient, ItemVaultError } from "@item-vault/client";
import { describe, expect, inject, it } from "vitest";
import { fileOf } from "../../../packages/transfer/src/item-parts.ts";
import type { TransferItem, TransferState } from "../../../packages/transfer/src/item.ts";
import { planItems } from "../../../packages/transfer/src/plan.ts";
import { readService } from "../../../packages/transfer/src/read-service.ts";
import { writeItem } from "../../../packages/transfer/src/write-item.ts";
import { makeToken, makeVault } from "../../sdk/support/vault.ts";

/** An import that is interrupted, in this process: a client that fails after a number of requests. */

const state = (value: string): TransferState => ({
  title: "Database",
  category: "LOGIN",
  tags: ["a"],
  urls: [{ href: "https://example.com", primary: true }],
  sections: [{ id: "s", label: "Section" }],
  fields: [
    { purpose: "USERNAME", type: "STRING", value: "ada" },
    { purpose: "PASSWORD", type: "CONCEALED", value },
    { label: "born", type: "DATE", value: "2000-01-01", section: { id: "s" } },
    { label: "until", type: "MONTH_YEAR", value: "2030/01" },
  ],
});

const item: TransferItem = {
  ...state("current"),
  sourceId: "1",
  vault: undefined,
  archived: true,
  files: [fileOf("a.txt", Buffer.from("a"), "s"), fileOf("a.txt", Buffer.from("a")), fileOf("empty", new Uint8Array())],
  history: [state("first"), state("second")],
};

const STEPS = 7; // three states, three Files, the archive

/** After how many writes the process is killed, and whether the next one was sent. */
const DEATHS = Array.from({ length: STEPS }, (_, writes) => [false, true].map((sent) => [writes, sent] as const)).flat();

async function emptyVault(dialect: "uuid" | "connect" = "uuid") {
  const vault = await makeVault();
  const { token } = await makeToken({ [vault]: "rw" }, dialect);
  return { vault, client: createClient({ host: inject("url"), token }) };
}

const isReading = (operation: string): boolean => operation.startsWith("GET ") && operation.endsWith("/content");

/** A client that tells of each operation before it is sent. What `before` returns runs after it. */
const observed = (client: Client, before: (operation: string) => (() => void) | void): Client => ({
  ...client,
  call: async (operation, ...options) => {
    const after = before(operation);
    const answer = await client.call(operation, ...options);
    after?.();
    return answer;
  },
});

const die = (): never => {
  throw new ItemVaultError("killed", { kind: "network", status: 0 });
};

/** A client whose process is killed before its write number `writes` + 1: before it is sent, or, if `sent`, before the answer arrives. */
function dying(client: Client, writes: number, sent: boolean): Client {
  let left = writes;
  return observed(client, (operation) => {
    if (operation.startsWith("GET ") || left-- !== 0) return undefined;
    return sent ? die : die();
  });
}

async function run(client: Client, vault: string, items: readonly TransferItem[] = [item]): Promise<string[]> {
  const target = { id: vault, name: "", client };
  const planned = await planItems(
    items.map((given) => ({ item: given, vault: target })),
    { format: "test", source: "s" },
  );
  const outcomes: string[] = [];
  for (const each of planned) outcomes.push(await writeItem({ client, vault }, each));
  return outcomes;
}

async function contentOf(client: Client, vault: string): Promise<unknown> {
  const json = async (path: string) => (await (await client.send("GET", `/v1/vaults/${vault}${path}`)).json()) as never;
  const [summary, ...others] = (await json("/items?archived=true")) as { id: string; version: number; state?: string }[];
  const full = (await json(`/items/${summary!.id}`)) as { fields: { value: string }[]; files: { name: string }[] };
  const versions = (await json(`/items/${summary!.id}/versions`)) as { version: number }[];
  const files = full.files.map(({ name }) => name).toSorted();
  return {
    others,
    version: summary!.version,
    state: summary!.state,
    values: full.fields.map(({ value }) => value),
    files,
    versions: versions.length,
  };
}

/** Returns a client, and the operations by which it reads contents of Files. */
function readsOf(client: Client) {
  const reads: string[] = [];
  return { reads, reading: observed(client, (operation) => void (isReading(operation) && reads.push(operation))) };
}

/** Files of an import and of the one after it, all of the same names and sizes, and whether they are the same. */
const FILES: readonly (readonly [string, readonly string[], readonly string[], boolean])[] = [
  ["one File with the same content", ["a"], ["a"], true],
  ["one File with another content", ["a"], ["b"], false],
  ["two Files of one name in another order", ["a", "b"], ["b", "a"], true],
  ["two Files of one name, of which one has another content", ["a", "b"], ["a", "c"], false],
  ["three Files of one name, of which another one is there twice", ["a", "a", "b"], ["a", "b", "b"], false],
  ["two Files of one name with the contents of the first", ["a", "b"], ["a", "a"], false],
];

const withFiles = (
  sourceId: string | undefined,
  contents: readonly string[],
  history: readonly TransferState[],
): TransferItem => {
  const files = contents.map((content) => fileOf("a.txt", Buffer.from(content)));
  return { ...item, sourceId, archived: false, history, files };
};

describe("an Item of an earlier import", () => {
  /** Without an id an Item is found by its content. What makes Files, and nothing else, has one state. */
  const SOURCES = [
    ["with an id", "1", [state("first")]],
    ["without an id", undefined, []],
  ] as const;

  describe.each(SOURCES)("%s in its source", (_, sourceId, history) => {
    it.each(FILES)("is compared by the contents of its Files: %s", async (_name, before, after, same) => {
      const { client, vault } = await emptyVault();
      expect(await run(client, vault, [withFiles(sourceId, before, history)])).toEqual(["created"]);
      const { reads, reading } = readsOf(client);
      expect(await run(reading, vault, [withFiles(sourceId, after, history)])).toEqual([same ? "present" : "differs"]);
      expect(reads).toHaveLength(before.length);
    });
  });

  it.each(FILES)("that was interrupted before its last state is continued only with the same contents: %s", async (_, ...row) => {
    const [before, after, same] = row;
    const { client, vault } = await emptyVault();
    const dies = dying(client, 1 + before.length, false);
    await expect(run(dies, vault, [withFiles("1", before, [state("first")])])).rejects.toThrow("killed");
    expect(await run(client, vault, [withFiles("1", after, [state("first")])])).toEqual([same ? "completed" : "differs"]);
  });

  it("is not the same when the content of its File does not open, and ends no import", async () => {
    const { client, vault } = await emptyVault();
    await run(client, vault, [withFiles(undefined, ["a"], [])]);
    const damaged = observed(client, (operation) => {
      if (isReading(operation)) throw new ItemVaultError("damaged", { kind: "integrity", status: 500 });
    });
    expect(await run(damaged, vault, [withFiles(undefined, ["a"], [])])).toEqual(["differs"]);
  });

  it("reads no content that the same import has written", async () => {
    const { client, vault } = await emptyVault();
    const { reads, reading } = readsOf(client);
    expect(await run(reading, vault)).toEqual(["created"]);
    expect(reads).toEqual([]);
  });
});

/** The id of the Item of a vault. */
async function onlyIn(client: Client, vault: string): Promise<string> {
  const { data } = await client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query: { archived: true } });
  return data[0]!.id;
}

async function rename(client: Client, vault: string): Promise<void> {
  const path = { vault, item: await onlyIn(client, vault) };
  await client.call("PATCH /v1/vaults/{vault}/items/{item}", { path, body: [{ op: "replace", path: "/title", value: "Mine" }] });
}

describe("an interrupted import", () => {
  it("is continued after every one of its writes", async () => {
    const dialect = "connect"; // which gives values, and the version after a PUT, in other forms
    const whole = await emptyVault(dialect);
    await run(whole.client, whole.vault);
    const expected = await contentOf(whole.client, whole.vault);
    for (const [writes, sent] of DEATHS) {
      const { client, vault } = await emptyVault(dialect);
      await expect(run(dying(client, writes, sent), vault)).rejects.toThrow("killed");
      const [outcome] = await run(client, vault);
      expect(outcome).toBe(writes === 0 && !sent ? "created" : writes === STEPS - 1 && sent ? "present" : "completed");
      expect(await contentOf(client, vault)).toEqual(expected);
      expect(await run(client, vault)).toEqual(["present"]);
    }
  });

  it("leaves an Item as it is that somebody has changed since", async () => {
    const { client, vault } = await emptyVault();
    await expect(run(dying(client, 3, false), vault)).rejects.toThrow("killed");
    await rename(client, vault);
    expect(await run(client, vault)).toEqual(["differs"]);
  });

  it("does not make an Item again that was deleted", async () => {
    const { client, vault } = await emptyVault();
    await run(client, vault);
    const id = await onlyIn(client, vault);
    await client.send("DELETE", `/v1/vaults/${vault}/items/${id}`);
    expect(await run(client, vault)).toEqual(["deleted"]);
  });

  it("makes each Item once when two imports run at the same time", async () => {
    const { client, vault } = await emptyVault();
    const outcomes = await Promise.all([run(client, vault), run(client, vault), run(client, vault)]);
    expect(outcomes.flat().filter((outcome) => outcome === "created")).toHaveLength(1);
    expect(await contentOf(client, vault)).toMatchObject({ others: [], version: STEPS, files: ["a.txt", "a.txt", "empty"] });
  });

  it("continues with later states of the source", async () => {
    const { client, vault } = await emptyVault();
    const before: TransferItem = { ...item, ...state("second"), history: [state("first")] };
    await run(client, vault, [before]);
    expect(await run(client, vault)).toEqual(["completed"]);
  });
});

/** A row of a file without ids: one state, no Files. */
const row = (title: string, password = "current", tags: readonly string[] = []): TransferItem => ({
  ...state(password),
  title,
  tags,
  sourceId: undefined,
  vault: undefined,
  archived: false,
  history: [],
  files: [],
});

async function passwordsOf(client: Client, vault: string): Promise<string[]> {
  const { items } = await readService(client, [{ id: vault, name: "" }]);
  return items.map(({ fields }) => fields.find(({ purpose }) => purpose === "PASSWORD")!.value!).toSorted();
}

describe("an Item that is there under the id of the source, with as many versions", () => {
  const before: TransferItem = { ...item, archived: false, files: [], history: [] };
  const [first, ...rest] = before.fields;
  const CHANGES: readonly (readonly [string, Partial<TransferItem>])[] = [
    ["title", { title: "Other" }],
    ["category", { category: "PASSWORD" }],
    ["favorite", { favorite: true }],
    ["tags", { tags: ["b"] }],
    ["address", { urls: [{ href: "https://example.org", primary: true }] }],
    ["password", { fields: state("changed").fields }],
    ["label of a section", { sections: [{ id: "s", label: "Other" }] }],
    ["number of fields", { fields: rest }],
    ["order of fields", { fields: [...rest, first!] }],
  ];

  it.each(CHANGES)("is left as it is, and reported when its source has another %s", async (_, change) => {
    const { client, vault } = await emptyVault();
    expect(await run(client, vault, [before])).toEqual(["created"]);
    const there = await contentOf(client, vault);
    expect(await run(client, vault, [{ ...before, ...change }])).toEqual(["differs"]);
    expect(await contentOf(client, vault)).toEqual(there);
    expect(await run(client, vault, [before])).toEqual(["present"]);
  });

  it("is left as it is, and reported when it was edited here", async () => {
    const { client, vault } = await emptyVault();
    expect(await run(client, vault, [before])).toEqual(["created"]);
    await rename(client, vault);
    expect(await run(client, vault, [before])).toEqual(["differs"]);
  });
});

describe("Items without ids in their source", () => {
  it("are compared with what is there", async () => {
    const { client, vault } = await emptyVault();
    expect(await run(client, vault, [row("a"), row("a"), row("b")])).toEqual(["created", "created", "created"]);
    const outcomes = ["present", "present", "present", "created"];
    expect(await run(client, vault, [row("a"), row("a"), row("b"), row("c")])).toEqual(outcomes);
  });

  it("do not stand for each other after an interruption, if only their values differ", async () => {
    const { client, vault } = await emptyVault();
    await run(client, vault, [row("a", "second")]);
    expect(await run(client, vault, [row("a", "first"), row("a", "second")])).toEqual(["created", "present"]);
    expect(await passwordsOf(client, vault)).toEqual(["first", "second"]);
    expect(await run(client, vault, [row("a", "first"), row("a", "second")])).toEqual(["present", "present"]);
  });

  it("are reported when the Item that is there has another content", async () => {
    const { client, vault } = await emptyVault();
    await run(client, vault, [row("a", "old")]);
    expect(await run(client, vault, [row("a", "new")])).toEqual(["differs"]);
    expect(await passwordsOf(client, vault)).toEqual(["old"]);
  });

  it("are other Items when they have a tag that the Item there lacks", async () => {
    const { client, vault } = await emptyVault();
    await run(client, vault, [row("db", "p", ["secret/production"])]);
    expect(await run(client, vault, [row("db", "s", ["secret/staging"])])).toEqual(["created"]);
  });
});

describe("Items with one id in their source", () => {
  it("become several Items, and the same ones at the next import", async () => {
    const { client, vault } = await emptyVault();
    const twice = ["first", "second"].map((value): TransferItem => Object.assign(row("a", value), { sourceId: "1" }));
    expect(await run(client, vault, twice)).toEqual(["created", "created"]);
    expect(await passwordsOf(client, vault)).toEqual(["first", "second"]);
    expect(await run(client, vault, twice)).toEqual(["present", "present"]);
  });
});
