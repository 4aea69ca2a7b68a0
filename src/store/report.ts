/**
 * Logs that something failed, without what it may quote. The messages of D1 name tables and constraints, never bound
 * values (but for its type errors, which are bugs); any other error may hold a piece of the input, so of it only the name and the places are logged.
 */
export function report(what: string, error: unknown): void {
  console.warn(`${what} failed: ${error instanceof Error ? describe(error) : "not an Error"}`);
}

function describe({ name, message, stack = "" }: Error): string {
  if (message.startsWith("D1_ERROR")) return message.slice(0, 200);
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return [name, ...frames].join("\n");
}
