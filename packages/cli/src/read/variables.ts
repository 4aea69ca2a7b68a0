/** Variables in templates: `$NAME`, `${NAME}` and `${NAME:-default}`. Names have no case. */

export type Variables = Readonly<Record<string, string | undefined>>;

/** The value of the variable with exactly this name, else of the one whose name differs in case only. */
export type Lookup = (name: string) => string | undefined;

export function createLookup(variables: Variables): Lookup {
  let names: Map<string, string> | undefined;
  return (name) => {
    if (Object.hasOwn(variables, name)) return variables[name];
    // Of names that differ in case only, the first one.
    names ??= new Map(
      Object.keys(variables)
        .toReversed()
        .map((key) => [key.toLowerCase(), key]),
    );
    const other = names.get(name.toLowerCase());
    return other === undefined ? undefined : variables[other];
  };
}

const PLAIN = /\$([A-Za-z_][A-Za-z0-9_]*)/y;
/** A default has at most 1,000 characters: without a limit, each beginning of one is compared with all of the text after it. */
const ENCLOSED = /\$\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?::-([^}\\]{0,1000}))?\}/y;

/**
 * Returns the variable that begins at `at`, or undefined if none begins there. After a backslash none begins. `value` is undefined if the
 * variable is not set and has no default.
 */
export function variableAt(text: string, at: number, lookup: Lookup): { value: string | undefined; end: number } | undefined {
  if (text[at] !== "$" || text[at - 1] === "\\") return undefined;
  for (const pattern of [ENCLOSED, PLAIN]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { value: lookup(match[1]!) ?? match[2], end: at + match[0].length };
  }
  return undefined;
}
