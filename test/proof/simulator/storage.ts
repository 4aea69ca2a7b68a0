import { DatabaseSync } from "node:sqlite";
import { createStatements, type SqlValue } from "../../../packages/host/src/statements.ts";

/** The own storage of a Durable Object: an SQLite in this process, and the time of the alarm. It outlives its coordinators. */
export interface Storage {
  /** Unix milliseconds; `null` without an alarm. */
  alarm: number | null;
  readonly exec: (sql: string, ...values: SqlValue[]) => Record<string, unknown>[];
  readonly close: () => void;
}

export function createStorage(): Storage {
  const db = new DatabaseSync(":memory:");
  const statementOf = createStatements(db);
  return {
    alarm: null,
    exec(sql, ...values) {
      if (sql.includes(";")) {
        db.exec(sql); // several statements, which return nothing
        return [];
      }
      return statementOf(sql).all(...values);
    },
    close: () => db.close(),
  };
}

/** The storage as a coordinator sees it. An instance that was evicted can no longer use it. */
export function storageOf(storage: Storage, isEvicted: () => boolean): DurableObjectStorage {
  const check = (): void => {
    if (isEvicted()) throw new Error("the instance was evicted");
  };
  const seen = {
    sql: {
      exec(sql: string, ...values: SqlValue[]) {
        check();
        const rows = storage.exec(sql, ...values);
        return { toArray: () => rows, one: () => rows[0]! };
      },
    },
    async getAlarm() {
      check();
      return storage.alarm;
    },
    async setAlarm(time: number) {
      check();
      storage.alarm = time;
    },
  };
  return seen as unknown as DurableObjectStorage;
}
