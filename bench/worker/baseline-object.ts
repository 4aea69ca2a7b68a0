import { DurableObject } from "cloudflare:workers";
import type { Baseline, BenchEnv } from "./bindings.ts";

/**
 * The baseline of a write: a Durable Object that stores a text in D1 with one statement. It does not order or fence writes,
 * does not log them, and does not encrypt the text.
 */
export class BaselineObject extends DurableObject<BenchEnv> implements Baseline {
  async upsert(id: string, body: string): Promise<string> {
    const sql = "INSERT INTO baseline (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
    await this.env.DB.prepare(sql).bind(id, body).run();
    return body;
  }
}
