import { DurableObject } from "cloudflare:workers";
import type { BenchEnv } from "./bindings.ts";

/** The least that a Durable Object can do to store something in D1: no order, no fence, no log, nothing sealed. */
export class FloorObject extends DurableObject<BenchEnv> {
  async upsert(id: string, body: string): Promise<string> {
    const sql = "INSERT INTO floor (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
    await this.env.DB.prepare(sql).bind(id, body).run();
    return body;
  }
}
