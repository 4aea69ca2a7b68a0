/** The bytes that D1 stores: the sum of the lengths of all values in all tables of the service. */
export async function storedBytes(db: D1Database): Promise<number> {
  const sql = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
               WHERE t.type = 'table' AND t.name NOT LIKE '\\_%' ESCAPE '\\' AND t.name NOT LIKE 'sqlite%'`;
  const { results } = await db.prepare(sql).all<{ table: string; column: string }>();
  const sums = [...Map.groupBy(results, ({ table }) => table)].map(([table, columns]) => {
    const bytes = columns.map(({ column }) => `ifnull(octet_length("${column}"), 0)`).join(" + ");
    return `SELECT ifnull(sum(${bytes}), 0) FROM "${table}"`;
  });
  return (await db.prepare(`SELECT (${sums.join(") + (")}) AS bytes`).first<number>("bytes"))!;
}
