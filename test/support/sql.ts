import { env } from "cloudflare:workers";

/** Statements on D1, behind the back of the service. */

const bind = (sql: string, values: readonly unknown[]) => env.DB.prepare(sql).bind(...values);

export const runSql = (sql: string, ...values: unknown[]) => bind(sql, values).run();

export const selectAll = async <Row = any>(sql: string, ...values: unknown[]): Promise<Row[]> =>
  (await bind(sql, values).all<Row>()).results;

export const selectFirst = <Row = any>(sql: string, ...values: unknown[]) => bind(sql, values).first<Row>();
