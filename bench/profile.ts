/**
 * `npm run bench:profile -- "GET an Item"` samples the CPU of the Worker's isolate while clients send one operation, and prints the
 * time of each function. Without a name it profiles every operation. The harness of the other benchmarks has no inspector, so this
 * one starts the server of `wrangler dev`. D1 and R2 run in other isolates: their CPU is in none of the figures.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_startWorker as startWorker } from "wrangler";
import { applyMigrations } from "../scripts/wrangler.ts";
import { freePort } from "../test/deploy/support/free-port.ts";
import { fetchJson, ifChanged, runRound, setServer } from "./load.ts";
import { createGroups, listItems, MIB } from "./operations.ts";
import { createReferenceGroup } from "./references.ts";
import { CONFIG_PATH, createFile, createVault, SECRETS, TABLE_PATH } from "./server.ts";

const SAMPLE_MICROSECONDS = 100;
const WARM_UP_MILLISECONDS = 2_000;
const PROFILE_MILLISECONDS = 5_000;
/** The number of functions in a table. */
const FUNCTIONS_MAX = 35;

/** A node of a V8 CPU profile (Chrome DevTools Protocol, domain Profiler): a function, called by its parent. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** The id of the node that ran at each sample. */
  readonly samples: readonly number[];
}

const nameOf = ({ callFrame: { functionName, lineNumber } }: ProfileNode): string =>
  `${functionName || "(anonymous)"}:${lineNumber + 1}`;

const isIdle = (name: string): boolean => name.startsWith("(idle)") || name.startsWith("(root)");

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

/** The samples by function: those of the function itself, and those with the functions that it called. */
function countSamples({ nodes, samples }: Profile) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const self = new Map<string, number>();
  const withCallees = new Map<string, number>();
  for (const sample of samples) {
    add(self, nameOf(byId.get(sample)!));
    const stack = new Set<string>();
    for (let node = byId.get(sample); node; node = parents.get(node.id)) stack.add(nameOf(node));
    for (const name of stack) add(withCallees, name);
  }
  return { self, withCallees };
}

function print(title: string, requestsPerSecond: number, profile: Profile): void {
  const requests = (requestsPerSecond * PROFILE_MILLISECONDS) / 1000;
  const perRequest = (samples: number) => ((samples * SAMPLE_MICROSECONDS) / requests).toFixed(1);
  const { self, withCallees } = countSamples(profile);
  const busy = [...self].filter(([name]) => !isIdle(name)).reduce((sum, [, samples]) => sum + samples, 0);
  console.log(`\n## ${title}: ${requestsPerSecond.toFixed(0)} requests/s, ${perRequest(busy)} µs of the isolate per request`);
  for (const [heading, counts] of Object.entries({ "itself, µs": self, "with callees, µs": withCallees })) {
    console.log(`\n| function | ${heading} | % |\n| --- | --: | --: |`);
    for (const [name, samples] of [...counts].toSorted(([, a], [, b]) => b - a).slice(0, FUNCTIONS_MAX))
      if (!isIdle(name)) console.log(`| ${name} | ${perRequest(samples)} | ${((100 * samples) / busy).toFixed(1)} |`);
  }
}

/** Returns a function that calls a method of the inspector of the Worker. */
async function connectInspector(port: number) {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  // The proxy of wrangler refuses a client without an origin that it knows. The option `headers` is an extension of Node.
  const options = { headers: { Origin: "http://localhost" } } as unknown as string[];
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl, options);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (result: any) => void>();
  let calls = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  return (method: string, params: object = {}): Promise<any> =>
    new Promise((resolve) => {
      waiting.set(++calls, resolve);
      socket.send(JSON.stringify({ id: calls, method, params }));
    });
}

const folder = mkdtempSync(join(tmpdir(), "item-vault-profile-"));
await applyMigrations(folder);
const inspectorPort = await freePort();
const worker = await startWorker({
  config: CONFIG_PATH,
  bindings: Object.fromEntries(Object.entries(SECRETS).map(([name, value]) => [name, { type: "secret_text", value }])),
  dev: {
    persist: folder,
    server: { hostname: "127.0.0.1", port: await freePort() },
    inspector: { hostname: "127.0.0.1", port: inspectorPort },
    logLevel: "warn",
  },
});
try {
  await worker.ready;
  setServer(await worker.url);
  await fetchJson({ path: TABLE_PATH });
  const [small, writable, large] = [await createVault(100), await createVault(100), await createVault(50_000)];
  const files = [{ name: "10 MiB", file: await createFile(await createVault(1), 10 * MIB) }];
  const groups = [...createGroups(small, writable, large, files, await ifChanged(listItems(small))), createReferenceGroup(small)];
  const operations = groups.flatMap((group) =>
    group.operations.map(({ name, request }) => ({ name, request, clients: group.clients })),
  );
  const chosen = operations.filter(({ name }) => process.argv.length < 3 || process.argv.includes(name));
  if (chosen.length === 0) throw new Error(`No such operation. There are: ${operations.map(({ name }) => name).join("; ")}`);
  const call = await connectInspector(inspectorPort);
  await call("Profiler.enable");
  await call("Profiler.setSamplingInterval", { interval: SAMPLE_MICROSECONDS });
  for (const { name, request, clients } of chosen) {
    await runRound(request, clients, WARM_UP_MILLISECONDS);
    await call("Profiler.start");
    const { rate } = await runRound(request, clients, PROFILE_MILLISECONDS);
    const { profile } = (await call("Profiler.stop")) as { profile: Profile };
    print(name, rate, profile);
  }
} finally {
  await worker.dispose();
  rmSync(folder, { recursive: true, force: true });
}
