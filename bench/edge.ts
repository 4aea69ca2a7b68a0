/** The edge, simulated: every D1 call is 30 ms away, every Durable Object 15 ms (worker/variants.ts). */
import { ask, round, type Shot } from "./load.ts";
import { distant, get, patch } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, quick } from "./statistics.ts";
import { atMost, type Claim } from "./tables.ts";

export interface Edge {
  readonly claims: readonly Claim[];
  /** What a Worker takes here that waits as long as a read, and as a write, and does nothing else. */
  readonly waits: readonly { readonly milliseconds: number; readonly measured: number }[];
}

const D1 = 30;
const HOP = 15;
const COMMIT = 2 * D1;
const SLACK = 1.2;
const AT_ONCE = 100;

export async function measureEdge(vault: Vault): Promise<Edge> {
  const [reading, writing] = [distant(get(vault)), distant(patch(vault))];
  const waits: Edge["waits"][number][] = [];
  for (const steps of [[D1], [HOP, D1, D1]]) {
    const measured = await typical({ path: `/bench/wait?steps=${steps.join()}` });
    waits.push({ milliseconds: steps.reduce((sum, step) => sum + step), measured });
  }
  const read = await typical(reading);
  const write = await typical(writing);
  const commits = (await together(writing)) / COMMIT;
  const claims = [
    atMost("p50 of a GET, ms", read, SLACK * D1),
    atMost("p50 of a PATCH, ms", write, SLACK * (HOP + COMMIT)),
    atMost(`${AT_ONCE} PATCHes at once to one Vault, in commits of ${COMMIT} ms (one by one: ${AT_ONCE})`, commits, 10),
  ];
  return { claims, waits };
}

async function typical(shot: Shot): Promise<number> {
  await ask(shot);
  return median((await round(shot, 1, quick ? 300 : 3_000)).latencies);
}

/** Milliseconds until all have their answers. */
async function together(shot: Shot): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < (quick ? 1 : 5); time++) {
    const start = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(shot)));
    times.push(performance.now() - start);
  }
  return median(times);
}
