import { createStatements } from "./statements.ts";
import type { Turns } from "./turns.ts";

/** A queue (developers.cloudflare.com/queues): its messages are rows of the SQLite file, each delivered at least once. */

/** A consumer of wrangler.toml. */
export interface QueueSettings {
  readonly max_batch_size: number;
  /** Seconds. */
  readonly max_batch_timeout: number;
  readonly max_retries: number;
  /** Seconds. */
  readonly retry_delay: number;
}

const SQL = {
  create: `CREATE TABLE IF NOT EXISTS host_messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL
  ) STRICT`,
  insert: "INSERT INTO host_messages (body, due) VALUES (?1, ?2)",
  due: "SELECT id, body, attempts FROM host_messages WHERE due <= ?1 ORDER BY id LIMIT ?2",
  delete: "DELETE FROM host_messages WHERE id = ?1",
  retry: "UPDATE host_messages SET attempts = attempts + 1, due = ?2 WHERE id = ?1",
};

interface Row {
  readonly id: number;
  readonly body: string;
  readonly attempts: number;
}

/** Opens a queue. `deliver` throws if a message that it has not acknowledged must come again. */
export function createQueue(
  turns: Turns,
  settings: QueueSettings,
  deliver: (messages: readonly Message[]) => Promise<void>,
  report: (what: string, error: unknown) => void,
) {
  turns.db.exec(SQL.create);
  const statementOf = createStatements(turns.db);
  let isDelivering = false;

  async function deliverDue(): Promise<void> {
    if (isDelivering) return;
    isDelivering = true;
    try {
      const rows = statementOf(SQL.due).all(Date.now(), settings.max_batch_size) as unknown as Row[];
      if (rows.length > 0) await deliverBatch(rows);
    } finally {
      isDelivering = false;
    }
  }

  async function deliverBatch(rows: readonly Row[]): Promise<void> {
    const left = new Map(rows.map((row) => [row.id, row]));
    const end = (id: number) => {
      left.delete(id);
      turns.transaction(() => statementOf(SQL.delete).run(id));
    };
    const messages = rows.map(({ id, body, attempts }) => ({
      id: String(id),
      timestamp: new Date(),
      body: parsed(body),
      attempts: attempts + 1,
      ack: () => end(id),
    }));
    try {
      await deliver(messages as unknown as readonly Message[]);
      for (const id of left.keys()) end(id);
    } catch (error) {
      report("A queue", error);
      for (const row of left.values()) if (row.attempts >= settings.max_retries) end(row.id);
      const due = Date.now() + settings.retry_delay * 1_000;
      for (const id of left.keys()) turns.transaction(() => statementOf(SQL.retry).run(id, due));
    }
  }

  let timer: NodeJS.Timeout | undefined;
  const ring = () => void deliverDue().catch((error: unknown) => report("A queue", error));
  return {
    binding: {
      async send(message: unknown) {
        turns.transaction(() => statementOf(SQL.insert).run(JSON.stringify(message), Date.now()));
      },
    } as unknown as Queue,
    start() {
      timer = setInterval(ring, settings.max_batch_timeout * 1_000).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Returns the message of a row; undefined for a damaged row, which the Worker refuses like every message that it has not made. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
