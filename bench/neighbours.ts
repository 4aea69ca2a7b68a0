/** What the clients of one vault notice while one token of another vault does its worst (test/support/worst/attacks.ts). */
import { type BenchRequest, fetchJson, runRound, send } from "./load.ts";
import { getItem, patchOneItem } from "./operations.ts";
import type { Vault } from "./server.ts";
import { quantile, QUICK } from "./statistics.ts";

export interface NeighbourResult {
  readonly name: string;
  /** The p99 of a PATCH and of a GET in the other vault, in milliseconds: without the attack, and during it. */
  readonly patch: readonly [idle: number, during: number];
  readonly get: readonly [idle: number, during: number];
}

/** Clients of the token that attacks, and of the other vault. */
const ATTACKERS = 4;
const CLIENTS = 2;
const MILLISECONDS = QUICK ? 600 : 4_000;

type Attack = readonly (BenchRequest & { readonly text?: string })[];

/** Measures the clients of a vault. */
export async function measureNeighbours(vault: Vault): Promise<NeighbourResult[]> {
  const names: readonly string[] = await fetchJson({ path: "/bench/attack/names" });
  const attacks: Attack[] = [];
  for (const index of names.keys()) attacks.push(await fetchJson({ path: `/bench/attack/prepare?index=${index}` }));
  const results: NeighbourResult[] = [];
  for (const [index, name] of names.entries()) results.push(await measure(name, vault, attacks[index]!));
  results.push(await measure("all of these, in turn", vault, interleave(attacks)));
  return results;
}

async function measure(name: string, vault: Vault, attack: Attack): Promise<NeighbourResult> {
  const idle = await measureClients(vault);
  let running = true;
  const attackers = Array.from({ length: ATTACKERS }, (_, client) => runAttacker(attack, client, () => running));
  const during = await measureClients(vault).finally(() => (running = false));
  await Promise.all(attackers);
  return { name, patch: [idle.patch, during.patch], get: [idle.get, during.get] };
}

const p99 = async (request: BenchRequest): Promise<number> =>
  quantile((await runRound(request, CLIENTS, MILLISECONDS)).latencies, 0.99);

/** Returns the p99 of both requests. */
const measureClients = async (vault: Vault) => ({ patch: await p99(patchOneItem(vault)), get: await p99(getItem(vault)) });

/** Sends the requests of the attack one after the other. Refused requests are part of it. */
async function runAttacker(attack: Attack, client: number, running: () => boolean): Promise<void> {
  for (let sent = client; running(); sent += ATTACKERS) {
    const { text, headers = {}, ...request } = attack[sent % attack.length]!;
    const key = headers["Idempotency-Key"];
    // A new key in each turn: a repeated request would be cheaper.
    const fresh = key === undefined ? headers : { ...headers, "Idempotency-Key": `${key}-${sent}` };
    await send({ ...request, headers: fresh, ...(text === undefined ? {} : { body: text }) }, false);
  }
}

/** The first request of each attack, then the second of each, and so on. */
function interleave(attacks: readonly Attack[]): Attack {
  const length = Math.max(...attacks.map((attack) => attack.length));
  return Array.from({ length }, (_, index) => attacks.flatMap((attack) => attack[index] ?? [])).flat();
}
