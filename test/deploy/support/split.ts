/** A quoted text, which may lack its end; the end of a statement; a word. */
const TOKENS = /(['"`])(?:(?!\1)[^])*(\1|$)|;|\w+/g;

/**
 * Splits SQL as D1's API does, to which wrangler posts a whole migration: it knows quotes and triggers, and no comments (workers-sdk#4713,
 * #4767). Throws for a quote that does not end.
 */
export function splitLikeD1(sql: string): string[] {
  const statements: string[] = [];
  let [start, depth, isTrigger] = [0, 0, false];
  for (const { 0: token, 1: quote, 2: end, index } of sql.matchAll(TOKENS)) {
    if (quote !== undefined && end === "") throw new Error("unrecognized token: a quote does not end");
    const word = token.toUpperCase();
    if (word === "TRIGGER") isTrigger = true;
    if (isTrigger && (word === "BEGIN" || word === "CASE")) depth++;
    if (isTrigger && word === "END") depth--;
    if (token !== ";" || depth > 0) continue;
    statements.push(sql.slice(start, index));
    [start, isTrigger] = [index + 1, false];
  }
  return [...statements, sql.slice(start)].map((statement) => statement.trim()).filter(Boolean);
}
