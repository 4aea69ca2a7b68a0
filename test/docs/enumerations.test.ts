import { describe, expect, it } from "vitest";
import cli from "../../docs/cli.md?raw";
import { OPERATIONS } from "../../src/api/operations.ts";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { CATEGORIES } from "../../src/model/item.ts";
import { PURPOSES } from "../../src/model/purposes.ts";
import { isSecretType } from "../../src/model/secret-types.ts";
import { contract } from "../support/contract.ts";

/** What the documents enumerate, and the code too. */

/** The part of a text from a begin to an end. */
const partOf = (text: string, begin: string, end: string): string => text.split(begin)[1]?.split(end)[0] ?? "";

/** The names in capitals of a rule of the contract, before its first full stop. */
const namesIn = (rule: string): string[] => partOf(contract, `**${rule}**`, ".").match(/\b[A-Z][A-Z_]+\b/g) ?? [];

interface Endpoints {
  /** Absent: any. */
  readonly methods: readonly string[] | undefined;
  readonly path: RegExp;
}

/** The cell of a table, for example `GET, POST /v1/tokens, …/tokens/{t}; DELETE …`, where `…` is any begin, middle or end of a path. */
const endpointsIn = (cell: string): Endpoints[] =>
  cell.split("; ").flatMap((part) => {
    const [, methods, paths = ""] = /^((?:[A-Z]+(?:, )?)+ )?(.*)$/.exec(part.trim()) ?? [];
    return paths.split(", ").map((path) => ({
      methods: methods?.trim().split(", "),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+").replaceAll("…", ".*")}$`),
    }));
  });

/** The endpoints of the table whose heading has this cell. */
function tableOf(text: string, heading: string): Endpoints[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|") && line.includes(`| ${heading} `));
  const column = lines[first]!.split("|").findIndex((cell) => cell.trim() === heading);
  const rows = lines.slice(first + 2, lines.indexOf("", first));
  return rows.flatMap((row) => endpointsIn(row.split("|")[column]!));
}

describe("documents", () => {
  it("contract 1.2 has every operation, and no other endpoint", () => {
    const endpoints = tableOf(contract, "method and path");
    const used = new Set<Endpoints>();
    const missing = Object.values(OPERATIONS).filter(({ method, path }) => {
      const found = endpoints.filter(
        (one) => (one.methods?.includes(method) ?? true) && one.path.test(path.replace(/^\/v1(?=\/)/, "")),
      );
      for (const one of found) used.add(one);
      return found.length === 0;
    });
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(endpoints.filter((one) => !used.has(one))).toEqual([]);
  });

  it("contract 2.6 has every category, contract 2.7 every type of field, and contract 2.8 every purpose", () => {
    expect(namesIn("2.6")).toEqual([...CATEGORIES]);
    expect(namesIn("2.7")).toEqual(FIELD_TYPE_NAMES);
    expect(namesIn("2.8")).toEqual(Object.keys(PURPOSES).filter(Boolean));
  });

  it("docs/cli.md has every type whose values a table hides", () => {
    const secrets = FIELD_TYPE_NAMES.filter((type) => isSecretType(type));
    expect(partOf(cli, "not known to be harmless (", " and any later one").split(/,\s+/)).toEqual(secrets);
  });
});
