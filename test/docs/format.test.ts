import { describe, expect, it } from "vitest";
import document from "../../docs/format.md?raw";
import { KINDS } from "../../src/crypto/seal.ts";
import { BACKUP_FORMAT, type Manifest } from "../../src/model/backup.ts";
import { CHUNK_BYTES, HEADER_BYTES, SEALED_CHUNK_BYTES } from "../../src/model/chunk-sizes.ts";
import { backedUpIn } from "../../src/store/tables/tables.ts";
import backup from "../../vectors/backup.json?raw";
import derived from "../../vectors/derived-key.json?raw";
import tokens from "../../vectors/token.json?raw";

/** docs/format.md says what the code and the examples of stored forms (vectors/) say. */

/** The section of a heading, up to the next one. */
const sectionOf = (heading: string): string => document.split(/^#+ /m).find((section) => section.startsWith(`${heading}\n`))!;

/** The rows of the tables of a section, without their heads. */
const rowsOf = (heading: string): string[][] =>
  [...sectionOf(heading).matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = ""]) => row.split(" | ").map((cell) => cell.trim()))
    .filter(([first = ""]) => !/^-+$/.test(first));

/** The words in code marks. */
const wordsIn = (text = ""): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

const manifests = Object.entries((JSON.parse(backup) as { objects: Record<string, string> }).objects)
  .filter(([key]) => key.endsWith(".manifest"))
  .map(([, text]) => JSON.parse(text.split("\n", 1)[0]!) as Manifest);
const keysOf = (objects: readonly object[]): string[] => [...new Set(objects.flatMap((one) => Object.keys(one)))].toSorted();

const tablesOf = (where: "vault" | "registry"): string[] =>
  backedUpIn(where)
    .map(({ name }) => name)
    .toSorted();

describe("docs/format.md", () => {
  it("has every kind of sealed text with its number", () => {
    const rows = rowsOf("Sealed texts").filter((cells) => cells.length === 7 && cells[0] !== "kind");
    expect(rows.map(([number, name]) => [wordsIn(name)[0], Number(number)])).toEqual(
      Object.entries(KINDS).toSorted(([, a], [, b]) => a - b),
    );
  });

  it("has every use of a derived key", () => {
    const uses = rowsOf("Derived keys").flatMap(([use]) => wordsIn(use));
    const examples = Object.keys(JSON.parse(derived) as object).map((use) => use.replace(/^activity\/.*/, "activity/<day>"));
    expect(uses.toSorted()).toEqual(examples.toSorted());
  });

  it("has every table that backups have", () => {
    const [vault, registry] = rowsOf("Parts").map(([, tables]) => wordsIn(tables).toSorted());
    expect([vault, registry]).toEqual([tablesOf("vault"), tablesOf("registry")]);
  });

  it("has every attribute of manifests and of what they say of parts", () => {
    const rows = rowsOf("Manifests").filter(([first]) => first !== "attribute");
    const attributes = rows.flatMap(([attribute]) => wordsIn(attribute));
    expect(attributes.toSorted()).toEqual(keysOf(manifests));
    const ofParts = rows.find(([first]) => first === "`parts`")![1]!.match(/\w+(?=")/g)!;
    expect(ofParts).toEqual(expect.arrayContaining(keysOf(manifests.flatMap(({ parts }) => parts))));
  });

  it("has every claim of tokens", () => {
    const claims = rowsOf("Texts of tokens").flatMap(([claim]) => wordsIn(claim));
    const texts = Object.values(JSON.parse(tokens) as Record<string, { opens: { text: string } }>).map(({ opens }) => opens.text);
    const payloads = texts.map(
      (text) =>
        JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text.split(".")[1]!, { alphabet: "base64url" }))) as object,
    );
    expect(claims.toSorted()).toEqual(keysOf(payloads));
  });

  it("has the numbers of the code", () => {
    const contents = sectionOf("Contents of Files");
    for (const number of [CHUNK_BYTES, SEALED_CHUNK_BYTES, HEADER_BYTES]) expect(contents).toContain(number.toLocaleString("en"));
    expect(sectionOf("Backups")).toContain(`The format is number ${BACKUP_FORMAT}.`);
  });
});
