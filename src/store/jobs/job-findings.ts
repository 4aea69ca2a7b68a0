import { logFailure } from "../../log.ts";
import type { Finding } from "../../model/finding.ts";

/** The findings of a job, in the SQLite of the Durable Object that runs it. Each finding is one row. */

const SQL = {
  list: "SELECT number, finding FROM job_findings WHERE job = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
  add: `
    INSERT INTO job_findings (job, number, finding)
    SELECT ?1, coalesce((SELECT max(number) FROM job_findings WHERE job = ?1), 0) + 1, ?2 WHERE true
    ON CONFLICT DO NOTHING`,
  // The finding keeps its number, after which pages begin.
  repair: "UPDATE OR REPLACE job_findings SET finding = ?3 WHERE job = ?1 AND finding = ?2",
  remove: "DELETE FROM job_findings WHERE job = ?1",
};

/** Adds findings that the job does not have yet. One that is repaired replaces itself as not repaired. */
export function addFindings(sql: SqlStorage, id: string, findings: readonly Finding[]): void {
  for (const finding of findings) {
    const text = JSON.stringify(finding);
    if (finding.repaired) sql.exec(SQL.repair, id, JSON.stringify({ ...finding, repaired: false }), text);
    sql.exec(SQL.add, id, text);
  }
}

/** Parses an object. A damaged text counts as missing, so that it does not block other rows. */
export function readObject<T extends object>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as T) : undefined;
  } catch (error) {
    logFailure("A row of a job", error);
    return undefined;
  }
}

export interface FindingPage {
  readonly findings: readonly Finding[];
  /** The number of the last one, after which the next page begins; absent on the last page. */
  readonly next: number | undefined;
}

/** Returns the page of findings after the number `after`. */
export function loadFindings(sql: SqlStorage, id: string, after: number, limit: number): FindingPage {
  // One more, which tells whether another page follows.
  const rows = sql.exec<{ number: number; finding: string }>(SQL.list, id, after, limit + 1).toArray();
  const page = rows.slice(0, limit);
  const findings = page.flatMap(({ finding }) => readObject<Finding>(finding) ?? []);
  return { findings, next: rows.length > limit ? page.at(-1)!.number : undefined };
}

export function removeFindings(sql: SqlStorage, id: string): void {
  sql.exec(SQL.remove, id);
}
