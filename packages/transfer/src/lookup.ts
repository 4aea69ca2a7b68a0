/** Returns the own entry of a table under a text of a foreign file, which may be `constructor` or `__proto__`. */
export const lookup = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
