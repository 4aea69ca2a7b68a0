import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ALL_TABLES, type NamedTable } from "../../src/store/tables/tables.ts";
import { serveTeam } from "../support/access.ts";
import { advanceClock } from "../support/faults.ts";
import { deleteIssuers } from "../support/workloads.ts";
import { exchangeColumn, isPlain } from "./support/exchange.ts";
import type { Row } from "./support/rows.ts";
import { plantSubject, ROLES, type Subject, type Use } from "./support/subjects.ts";

/**
 * Whoever writes to D1 exchanges a plaintext column of two rows of a table that has sealed texts. A column only finds a row: no credential
 * works for another subject, and no reader serves the content of the other row.
 */

const signInAs = serveTeam();

/** The tables with sealed texts whose rows belong to no vault, but for that of root keys, each with its plaintext columns. */
const OF_SUBJECTS = ALL_TABLES.filter(({ associatedData, owner, name }) => associatedData && !owner && name !== "root_keys");

const loadRow = async ({ name, key }: NamedTable, id: string): Promise<Row> =>
  (await env.DB.prepare(`SELECT * FROM ${name} WHERE ${key[0]!} = ?`).bind(id).first<Row>())!;

/** Returns what a subject is answered about the other one, in words. */
async function faultsOf({ uses }: Subject, other: Subject, isAsked: (use: Use) => boolean): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, ask } of uses.filter(isAsked)) {
    const { status, text } = await ask();
    if (text.includes(other.mark)) faults.push(`${name}: ${status} ${text}`);
  }
  return faults;
}

/** Plants two subjects, whose times differ. */
async function plantTwo(): Promise<readonly [Subject, Subject]> {
  const first = await plantSubject(signInAs);
  advanceClock(2_000);
  return [first, await plantSubject(signInAs)];
}

/** Exchanges a column of a row of each subject, and returns the faults of both, or undefined if the values are equal. */
async function tryExchange(
  table: NamedTable,
  column: string,
  [a, b]: readonly [Subject, Subject],
  [role, other]: readonly [string, string],
  isAsked: (use: Use) => boolean = () => true,
): Promise<string[] | undefined> {
  const rows = [await loadRow(table, a.rows[table.name]![role]!), await loadRow(table, b.rows[table.name]![other]!)] as const;
  if (rows[0][column] === rows[1][column]) return undefined;
  const undo = await exchangeColumn(table, column, rows);
  const faults = [...(await faultsOf(a, b, isAsked)), ...(await faultsOf(b, a, isAsked))];
  await undo();
  return faults.map((fault) => `${role} and ${other}: ${fault}`);
}

afterEach(async () => {
  await deleteIssuers();
  vi.useRealTimers();
});

/** Columns whose values are equal in two rows of one role. */
const EQUAL = new Set([
  ...OF_SUBJECTS.map(({ name }) => `${name}.root_key_id`),
  ...["kind", "signed_by", "ancestor_2", "ancestor_3"].map((column) => `tokens.${column}`),
  "ended_tokens.signed_by",
  "exchanges.exchanges",
]);

const CASES = OF_SUBJECTS.flatMap((table) =>
  Object.keys(table.columns)
    .filter((column) => isPlain(table, column))
    .map((column) => [`${table.name}.${column}`, table, column] as const),
);

it("each subject is answered about itself while nothing is exchanged", async () => {
  const { mark, uses } = await plantSubject(signInAs);
  // The test of rules names the rules that fit, and not whose they are.
  for (const { name, ask } of uses.filter((one) => one.name !== "the test of rules")) {
    const { status, text } = await ask();
    expect([name, status < 300, text.includes(mark)]).toEqual([name, true, true]);
  }
});

describe("two rows of one role that exchange", () => {
  it.each(CASES)("%s serve neither subject as the other one", async (_, table, column) => {
    const faults: string[] = [];
    let [exchanges, two] = [0, await plantTwo()];
    for (const role of ROLES[table.name]!) {
      const found = await tryExchange(table, column, two, [role, role]);
      if (found === undefined) continue;
      exchanges++;
      faults.push(...found);
      two = await plantTwo(); // the last ones have used their codes up
    }
    expect([faults, exchanges > 0]).toEqual([[], !EQUAL.has(`${table.name}.${column}`)]);
  });
});

describe("two rows of different roles that exchange", () => {
  // What a row of another role has too: its kind, its index, what it is below.
  it.each(CASES.filter(([, { columns }, column]) => columns[column]!.endsWith("?")))(
    "%s are listed to nobody else",
    async (_, table, column) => {
      const faults: string[] = [];
      const two = await plantTwo();
      for (const role of ROLES[table.name]!)
        for (const other of ROLES[table.name]!.filter((one) => one !== role))
          faults.push(...((await tryExchange(table, column, two, [role, other], ({ once }) => !once)) ?? []));
      expect(faults).toEqual([]);
    },
  );
});
