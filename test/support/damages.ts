import { env } from "cloudflare:workers";

/** The names of the records of rows that did not open when they were read (src/store/health/damages.ts). In: the id of a vault or an Item. */
export async function recordedDamages(id: string): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT name FROM counters WHERE instr(name, ?) > 0").bind(id).all<{ name: string }>();
  return results.map(({ name }) => name);
}
