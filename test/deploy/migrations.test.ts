import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { unstable_splitSqlQuery as splitCorrectly } from "wrangler";
import { splitLikeD1 } from "./support/split.ts";

/** wrangler posts a migration as one text to D1's API, whose splitter does not know comments. With `--local` wrangler splits it itself. */

const withoutComments = (statement: string) =>
  statement.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").replace(/ ?;$/, "").trim();

/** The statements that run, or why D1 refuses the text. */
function statementsOf(split: (sql: string) => string[], sql: string): string[] | string {
  try {
    return split(sql).map(withoutComments).filter(Boolean);
  } catch (error) {
    return (error as Error).message;
  }
}

const migrations = readdirSync("migrations").map((name) => [name, readFileSync(`migrations/${name}`, "utf8")] as const);

it.each(migrations)("D1's API and a correct splitter find the same statements in %s", (_, sql) => {
  const statements = statementsOf(splitCorrectly, sql);
  expect(statements.length).toBeGreaterThan(1);
  expect(statementsOf(splitLikeD1, sql)).toEqual(statements);
});

const TABLES = "CREATE TABLE a (id TEXT); -- COMMENT\nCREATE TABLE b (id TEXT DEFAULT 'x;y');";
const TRIGGER =
  "CREATE TRIGGER c AFTER INSERT ON a BEGIN\n  -- COMMENT\n  DELETE FROM b; DELETE FROM a; END;\nCREATE TABLE d (id TEXT);";

const both = (text: string) => [splitLikeD1, splitCorrectly].map((split) => statementsOf(split, text));

it.each([
  ["an apostrophe", TABLES, "the vault's"],
  ["a quotation mark", TABLES, 'or "admin'],
  ["a semicolon", TABLES, "a; b"],
  ["the word that ends a trigger, in a trigger", TRIGGER, "until the end"],
])("a migration with %s in a comment is found", (_, sql, comment) => {
  const [d1, correct] = both(sql.replace("COMMENT", "a comment"));
  expect(d1).toEqual(correct);
  const [found, expected] = both(sql.replace("COMMENT", comment));
  expect(expected).toEqual(correct);
  expect(found).not.toEqual(expected);
});
