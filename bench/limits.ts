/**
 * `npm run limits` sends the worst legal request of every endpoint to the service and writes what each costs into
 * docs/limits.md. test/promises/worst-requests.test.ts holds the same requests to the same bounds, with a smaller state.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { COMMIT } from "./environment.ts";
import { findWorkerd, peakMemory, residentMemory, resetPeak } from "./limits/memory.ts";
import { fetchJson, send } from "./load.ts";
import { startServer, stopServer } from "./server.ts";
import { formatNumber, formatTable } from "./tables.ts";

const FILE = "docs/limits.md";
const [BEGIN, END] = ["<!-- limits:begin -->", "<!-- limits:end -->"];
/** The bounds of roadmap 2.2. */
const [ROWS, MEMORY, CPU] = [10_000, 32, 50];
/** It makes a report for all who ask in 5 seconds, in as many D1 calls as it has checks. */
const SHARED = "/health";
/** The most D1 calls of a refused request. */
const REFUSED_CALLS = 3;
const [KIB, MIB] = [1024, 1024 * 1024];

interface Named {
  readonly endpoint: string;
  readonly why: string;
  readonly reads?: string;
  readonly stores?: string;
}

interface Measured extends Named {
  readonly body: number;
  readonly answer: number;
  readonly d1: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly r2: number;
  readonly stored: number;
  /** MiB above the memory before the request. */
  readonly memory: number;
}

async function measure(request: Named, index: number, workerd: string): Promise<Measured> {
  const { path, token, headers, text, bytes } = await fetchJson({ path: `/bench/worst/prepare?index=${index}` });
  const body = bytes === undefined ? text : Buffer.alloc(bytes, 7);
  await sleep(500); // the log entries of the preparation
  await fetchJson({ path: "/bench/flush" }); // of the request before
  await fetchJson({ path: "/bench/counters" });
  const before: number = await fetchJson({ path: "/bench/worst/stored" });
  const idle = residentMemory(workerd);
  resetPeak(workerd);
  const [method = ""] = request.endpoint.split(" ");
  const { status, bytes: answer } = await send({ method, path, token, headers, body, variant: "counted" }, true);
  const memory = Math.max(0, peakMemory(workerd) - idle);
  if (status >= 300) throw new Error(`${request.endpoint}, ${request.why}: ${status} ${answer.toString().slice(0, 200)}`);
  const counts = await fetchJson({ path: "/bench/counters" });
  const stored: number = (await fetchJson({ path: "/bench/worst/stored" })) - before;
  return { ...request, ...counts, stored, memory, body: body === undefined ? 0 : Buffer.byteLength(body), answer: answer.length };
}

const formatBytes = (bytes: number): string =>
  Math.abs(bytes) < KIB
    ? `${bytes} B`
    : Math.abs(bytes) < MIB
      ? `${formatNumber(bytes / KIB)} KiB`
      : `${formatNumber(bytes / MIB)} MiB`;

interface CpuResult {
  readonly name: string;
  readonly one: number;
  readonly group: number;
}

/** A process of its own, because bench/cpu/ has the types of workerd, and this file those of Node. */
function measureCpu(): CpuResult[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--js-base-64", "bench/cpu/planning.ts"], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as CpuResult[];
}

interface Refused {
  readonly name: string;
  /** The most D1 calls of a flood. */
  readonly calls: number;
}

interface Flood extends Refused {
  readonly routes: number;
  /** The most of a request. */
  readonly d1: number;
  readonly rowsRead: number;
  readonly requests: number;
  readonly floodD1: number;
  readonly rowsWritten: number;
  readonly r2: number;
}

/** Sends a kind of refused request to each route once, and then twice with each of its ids. */
async function measureRefused(refused: Refused, index: number): Promise<Flood> {
  const routes: any[][] = await fetchJson({ path: `/bench/refused/prepare?index=${index}` });
  const most = { d1: 0, rowsRead: 0, rowsWritten: 0, r2: 0 };
  const sendOne = async ({ json, ...request }: any) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const { status } = await send({ ...request, ...body, variant: "counted" }, true);
    if (status >= 500) throw new Error(`${refused.name}, ${request.method} ${request.path}: ${status}`);
  };
  const count = async (act: () => Promise<void>) => {
    await fetchJson({ path: "/bench/counters" });
    await act();
    const counts = await fetchJson({ path: "/bench/counters" });
    most.rowsWritten = Math.max(most.rowsWritten, counts.rowsWritten);
    most.r2 = Math.max(most.r2, counts.r2);
    return counts;
  };
  for (const [first] of routes) {
    if (first.path === SHARED) continue;
    const { d1, rowsRead } = await count(() => sendOne(first));
    most.d1 = Math.max(most.d1, d1);
    most.rowsRead = Math.max(most.rowsRead, rowsRead);
  }
  const flood = [...routes, ...routes].flat();
  const { d1: floodD1 } = await count(async () => {
    for (const request of flood) await sendOne(request);
  });
  return { ...refused, ...most, routes: routes.length, requests: flood.length, floodD1 };
}

const mark = (text: string, met: boolean): string => (met ? text : `**${text}**`);

/** A request whose bound does not hold states why in the table of the worst requests. */
const keepsRows = ({ reads, rowsRead }: Pick<Measured, "rowsRead" | "reads">) => reads !== undefined || rowsRead <= ROWS;
const keepsBytes = ({ stored, body }: Pick<Measured, "stored" | "body">) => stored <= 4 * body + 4 * KIB;

const formatRequests = (results: readonly Measured[]): string =>
  formatTable(
    [
      "endpoint",
      "worst legal request",
      "body",
      "answer",
      "D1 calls",
      "rows read",
      "rows written",
      "stored in D1",
      "R2 calls",
      "memory",
    ],
    results.map(({ endpoint, why, reads, body, answer, d1, rowsRead, rowsWritten, stored, r2, memory }) => [
      `\`${endpoint.replaceAll(":vault", "{v}").replaceAll(":item", "{i}").replaceAll(":file", "{f}").replaceAll(":token", "{t}")}\``,
      why,
      formatBytes(body),
      formatBytes(answer),
      formatNumber(d1),
      mark(formatNumber(rowsRead) + (reads ? ` (${reads})` : ""), keepsRows({ reads, rowsRead })),
      formatNumber(rowsWritten),
      mark(formatBytes(stored), keepsBytes({ stored, body })),
      formatNumber(r2),
      mark(`${formatNumber(memory)} MiB`, memory <= MEMORY),
    ]),
  );

const formatCpu = (results: readonly CpuResult[]): string =>
  formatTable(
    ["write", "one, ms", "a group of 32, ms"],
    results.map(({ name, one, group }) => [name, mark(formatNumber(one), one <= CPU), formatNumber(group)]),
  );

const formatRefused = (results: readonly Flood[]): string =>
  formatTable(
    [
      "requests with",
      "routes",
      "D1 calls of one",
      "rows read of one",
      "requests of the flood",
      "D1 calls of it",
      "rows written",
      "R2 calls",
    ],
    results.map(({ name, routes, d1, rowsRead, requests, floodD1, rowsWritten, r2 }) => [
      name,
      formatNumber(routes),
      mark(formatNumber(d1), d1 <= REFUSED_CALLS),
      formatNumber(rowsRead),
      formatNumber(requests),
      formatNumber(floodD1),
      mark(formatNumber(rowsWritten), rowsWritten === 0),
      formatNumber(r2),
    ]),
  );

/** What could not be measured, and why. The others are measured and written all the same. */
const failures: string[] = [];

/** Measures each name with `measureOne`, and prints the results by `format`. Returns the results of those that could be measured. */
async function measureAll<In extends object, Out>(
  names: readonly In[],
  measureOne: (one: In, index: number) => Promise<Out>,
  format: (results: readonly Out[]) => string,
): Promise<Out[]> {
  const results: Out[] = [];
  for (const [index, one] of names.entries()) {
    try {
      results.push(await measureOne(one, index));
      console.error(format(results.slice(-1)).split("\n").at(-1));
    } catch (error) {
      const name = Object.values(one)
        .filter((value) => typeof value === "string")
        .slice(0, 2)
        .join(", ");
      failures.push(`${name}: ${String(error).split("\n", 1)[0]!.slice(0, 300)}`);
      console.error(`FAILED ${failures.at(-1)}`);
    }
  }
  return results;
}

await startServer();
const workerd = findWorkerd();
// First, because the deletion of a large vault goes on after its answer.
const refused = await measureAll((await fetchJson({ path: "/bench/refused/names" })) as Refused[], measureRefused, formatRefused);
const results = await measureAll(
  (await fetchJson({ path: "/bench/worst/names" })) as Named[],
  (request, index) => measure(request, index, workerd),
  formatRequests,
);
await stopServer().catch((error: unknown) => failures.push(String(error)));
const [cpu = []] = await measureAll(
  [{ name: "CPU of a coordinator" }],
  async () => measureCpu(),
  ([one]) => formatCpu(one!),
);
const exceptions = results
  .filter(({ stores }) => stores)
  .map(({ endpoint, why, stores }) => `\`${endpoint}\`, ${why}: ${stores}.`);
const report = [
  `Measured on ${COMMIT}, with \`npm run limits\`. A figure in bold is beyond its bound.`,
  ...failures.map((failure) => `**Not measured**: ${failure}`),
  formatRequests(results),
  ...exceptions,
  "### Requests that are refused",
  `Each kind is sent to each route once, which has at most ${REFUSED_CALLS} D1 calls, and then twice to all of them from one address. The figures of one leave out
\`GET ${SHARED}\`, whose report is shared for 5 seconds; those of the flood have it. The limits of the platform are off here: \`test/promises/refused-requests.test.ts\` bounds the log entries with them.`,
  formatRefused(refused),
  "### CPU of a coordinator",
  formatCpu(cpu),
].join("\n\n");
const text = readFileSync(FILE, "utf8");
const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
if (start < 0 || end < start) throw new Error(`${FILE} lacks the markers ${BEGIN} and ${END}`);
writeFileSync(FILE, `${text.slice(0, start)}${BEGIN}\n\n${report}\n\n${text.slice(end)}`);
if (failures.length > 0) console.error(`${failures.length} could not be measured:\n${failures.join("\n")}`);
const beyond = results.filter((result) => !keepsRows(result) || !(result.stores || keepsBytes(result)));
for (const { endpoint, why } of beyond) console.error(`Beyond a bound of D1: ${endpoint}, ${why}`);
if (failures.length + beyond.length > 0) process.exitCode = 1;
