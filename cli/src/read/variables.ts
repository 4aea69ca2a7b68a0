/** Variables in templates: `$NAME`, `${NAME}` and `${NAME:-default}`. Names have no case. */

export type Variables = Readonly<Record<string, string | undefined>>;

const PLAIN = /\$([A-Za-z_][A-Za-z0-9_]*)/y;
const ENCLOSED = /\$\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?::-([^}\\]*))?\}/y;

/**
 * The variable that begins at `at`. Out: `undefined` when none begins there, also after a backslash; `value` is `undefined` when
 * the variable is not set and has no default.
 */
export function variableAt(
  text: string,
  at: number,
  variables: Variables,
): { value: string | undefined; end: number } | undefined {
  if (text[at] !== "$" || text[at - 1] === "\\") return undefined;
  for (const pattern of [ENCLOSED, PLAIN]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { value: valueOf(match[1]!, variables) ?? match[2], end: at + match[0].length };
  }
  return undefined;
}

/** The variable with exactly this name, else the one whose name differs in case only. */
function valueOf(name: string, variables: Variables): string | undefined {
  if (Object.hasOwn(variables, name)) return variables[name];
  const other = Object.keys(variables).find((key) => key.toLowerCase() === name.toLowerCase());
  return other === undefined ? undefined : variables[other];
}
