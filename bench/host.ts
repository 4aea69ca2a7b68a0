/**
 * `npm run bench:host` compares `item-vault server` with the same Worker in workerd and with a floor (floor.ts), in one run on one machine. It prints
 * ratios, and the CPU that a server uses for one request, which does not depend on how fast the clients of this process are.
 * `npm run bench:host -- quick` takes a short time.
 */
import { fdatasyncSync, mkdtempSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorker } from "../test/sdk/support/worker.ts";
import { admin, type Measured, memoryOf, SECRETS, startProgram, startServer } from "./host-server.ts";
import { type BenchRequest, fetchJson, runRound, setServer } from "./load.ts";
import { median, QUICK, quantile } from "./statistics.ts";

/** A token may send 2,000 requests in ten seconds. */
const TOKENS = 64;
const ITEMS = QUICK ? 500 : 10_000;
const ROUNDS = QUICK ? 2 : 9;
const ROUND_MS = QUICK ? 300 : 1_000;

interface Service extends Measured {
  readonly item: () => string;
  readonly items: string;
  readonly token: () => string;
}

/** The process of workerd that this one has started. */
function pidOfWorkerd(): number {
  const found = readdirSync("/proc").find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, name, , parent] = /\((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return name === "workerd" && Number(parent) === process.pid;
    } catch {
      return false; // it has ended meanwhile
    }
  });
  if (found === undefined) throw new Error("There is no workerd");
  return Number(found);
}

/** Milliseconds of CPU that a process has used. A tick of the kernel is 10 ms. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Makes a vault with Items, and tokens that share the requests. */
async function fill({ url, pid }: Measured, size: number): Promise<Service> {
  setServer(url);
  const { id: vault } = await admin("vaults", { name: "Bench" });
  const issued = Array.from({ length: TOKENS }, () => admin("tokens", { name: "bench", vaults: { [vault]: "rw" } }));
  const tokens = (await Promise.all(issued)).map(({ token }) => token as string);
  const items = `/v1/vaults/${vault}/items`;
  let turn = 0;
  const token = () => tokens[turn++ % TOKENS]!;
  const ids: string[] = [];
  const create = async (): Promise<void> => {
    while (ids.length < size) {
      const number = ids.push("") - 1;
      const fields = [{ id: "password", type: "CONCEALED", value: `secret ${number}` }];
      const body = JSON.stringify({ vault: { id: vault }, title: `Item ${number}`, category: "LOGIN", fields });
      ids[number] = (await fetchJson({ method: "POST", path: items, token, body })).id;
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
  let read = 0;
  return { url, pid, items, token, item: () => `${items}/${ids[(read += 7) % ids.length]}` };
}

interface Figures {
  readonly rate: number;
  /** Microseconds of the server for a request. */
  readonly cpu: number;
  readonly p99: number;
}

/** Measures requests in turn, so that a change in the load of the machine affects all alike. */
async function compare(requests: readonly (readonly [Measured, BenchRequest])[], clients: number): Promise<Figures[]> {
  const rounds = requests.map(() => [] as Figures[]);
  for (let turn = 0; turn <= ROUNDS; turn++)
    for (const [at, [{ url, pid }, sent]] of requests.entries()) {
      setServer(url);
      const before = cpuOf(pid);
      const { rate, latencies } = await runRound(sent, clients, ROUND_MS);
      const cpu = (1_000 * (cpuOf(pid) - before)) / latencies.length;
      if (turn > 0) rounds[at]!.push({ rate, cpu, p99: quantile(latencies, 0.99) });
    }
  const middle = (all: readonly Figures[], name: keyof Figures) => median(all.map((one) => one[name]));
  return rounds.map((all) => ({ rate: middle(all, "rate"), cpu: middle(all, "cpu"), p99: middle(all, "p99") }));
}

const say = (name: string, text: string): void => console.log(`${name.padEnd(34)}${text}`);
const per = (value: number): string => value.toFixed(0);

function sayRatio(name: string, host: Figures, workerd: Figures): void {
  const [rate, cpu] = [host.rate / workerd.rate, workerd.cpu / host.cpu];
  say(
    name,
    `${rate.toFixed(2)} × workerd (${per(host.rate)}/s, ${per(workerd.rate)}/s), CPU 1/${cpu.toFixed(2)} (${per(host.cpu)} µs)`,
  );
}

/** The 99th percentile of a sync of this disk, in milliseconds. */
function syncOfDisk(): number {
  const file = openSync(join(mkdtempSync(join(tmpdir(), "bench-sync-")), "file"), "w");
  const times = Array.from({ length: QUICK ? 50 : 500 }, () => {
    writeSync(file, Buffer.alloc(8_192));
    const begun = performance.now();
    fdatasyncSync(file);
    return performance.now() - begun;
  });
  return quantile(times, 0.99);
}

const server = await startServer();
const floor = await startProgram(["--disable-warning=ExperimentalWarning", "bench/floor.ts"]);
const worker = await startWorker(SECRETS);
const host = await fill(server, ITEMS);
const workerd = await fill({ url: new URL(worker.url), pid: pidOfWorkerd() }, QUICK ? 100 : 1_000);
const small = await fill(server, 100);
const smallOfWorkerd = await fill(workerd, 100);
say("start", `${per(server.ms)} ms`);
say(`memory after ${ITEMS} Items`, `${per(memoryOf(server.pid))} MiB`);

const read = ({ item, token }: Service): BenchRequest => ({ path: item, token });
const list = ({ items, token }: Service): BenchRequest => ({ path: items, token });
let patches = 0;
const patch = ({ item, token }: Service): BenchRequest => ({
  method: "PATCH",
  path: item,
  token,
  body: () => JSON.stringify([{ op: "replace", path: "/title", value: `Title ${patches++}` }]),
});

const [reads, readsOfWorkerd, base] = await compare(
  [
    [server, read(host)],
    [workerd, read(workerd)],
    [floor, { path: () => `/item-${patches++ % 10_000}` }],
  ],
  16,
);
sayRatio("GET, 16 clients", reads!, readsOfWorkerd!);
say("GET beside the floor", `${(reads!.cpu / base!.cpu).toFixed(2)} × the CPU (${per(base!.cpu)} µs)`);
const [lists, listsOfWorkerd] = await compare(
  [
    [server, list(small)],
    [workerd, list(smallOfWorkerd)],
  ],
  8,
);
sayRatio("list of 100 Items, 8 clients", lists!, listsOfWorkerd!);
for (const clients of [8, 1]) {
  const [patched, patchedOfWorkerd] = await compare(
    [
      [server, patch(small)],
      [workerd, patch(smallOfWorkerd)],
    ],
    clients,
  );
  sayRatio(`PATCH, ${clients} clients`, patched!, patchedOfWorkerd!);
}
setServer(server.url);
const sync = syncOfDisk();
const writing = runRound(patch(small), 8, ROUNDS * ROUND_MS);
const beside = await runRound(read(host), 1, ROUNDS * ROUND_MS);
await writing;
const [p99, bound] = [quantile(beside.latencies, 0.99), 3 * sync + 10];
say("GET beside 8 writers, p99", `${p99.toFixed(1)} ms (3 syncs of the disk and 10 ms: ${bound.toFixed(1)} ms)`);
say("memory at the end", `${per(memoryOf(server.pid))} MiB`);
server.child.kill();
floor.child.kill();
await worker.close();
