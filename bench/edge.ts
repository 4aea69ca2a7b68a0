/** The edge, simulated: every D1 call is 30 ms away, every Durable Object 15 ms (worker/variants.ts). */
import { ask, round, type Shot } from "./load.ts";
import { distant, get, patch, patchOne } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, quick } from "./statistics.ts";
import { atMost, type Claim } from "./tables.ts";

export interface Edge {
  readonly claims: readonly Claim[];
  /** What a Worker takes here that waits as long as a read, and as writes, and does nothing else. */
  readonly waits: readonly { readonly milliseconds: number; readonly measured: number }[];
}

const D1 = 30;
const HOP = 15;
const SLACK = 1.2;
const AT_ONCE = 100;

/** In: a vault, and one of so many Items that no write meets one for the second time. */
export async function measureEdge(vault: Vault, other: Vault): Promise<Edge> {
  const waits: Edge["waits"][number][] = [];
  for (const steps of [[D1], [HOP, D1], [HOP, D1, D1]]) {
    const measured = await typical({ path: `/bench/wait?steps=${steps.join()}` });
    waits.push({ milliseconds: steps.reduce((sum, step) => sum + step), measured });
  }
  const claims = [
    atMost("p50 of a GET, ms", await typical(distant(get(vault))), SLACK * D1),
    atMost("p50 of a PATCH, ms", await typical(distant(patchOne(vault))), SLACK * (HOP + D1)),
    atMost("p50 of the first PATCH of an Item, ms", await typical(distant(patch(other))), SLACK * (HOP + 2 * D1)),
    atMost(
      `${AT_ONCE} PATCHes at once to one Vault, in commits of ${D1} ms (one by one: ${AT_ONCE})`,
      (await together(distant(patchOne(vault)))) / D1,
      10,
    ),
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
