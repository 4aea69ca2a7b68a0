/**
 * `npm run limits` sends the worst legal request of every endpoint to the service and writes what each costs into
 * docs/limits.md. test/promises/worst-requests.test.ts holds the same requests to the same bounds, with a smaller state.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findWorkerd, peakMemory, residentMemory, resetPeak } from "./limits/memory.ts";
import { fetchJson, send } from "./load.ts";
import { startServer, stopServer } from "./server.ts";
import { formatNumber, formatTable } from "./tables.ts";

const FILE = "docs/limits.md";
const [BEGIN, END] = ["<!-- limits:begin -->", "<!-- limits:end -->"];
/** The bounds of roadmap 2.2. */
const [ROWS, MEMORY, CPU] = [10_000, 32, 50];
const [KIB, MIB] = [1024, 1024 * 1024];

interface Named {
  readonly endpoint: string;
  readonly why: string;
  readonly streams?: true;
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
  const { path, token, headers, json, bytes } = await fetchJson({ path: `/bench/worst/prepare?index=${index}` });
  const body = bytes === undefined ? json && JSON.stringify(json) : Buffer.alloc(bytes, 7);
  await sleep(500); // the log entries of the preparation
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

const mark = (text: string, met: boolean): string => (met ? text : `**${text}**`);

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
    results.map(({ endpoint, why, streams, body, answer, d1, rowsRead, rowsWritten, stored, r2, memory }) => [
      `\`${endpoint.replaceAll(":vault", "{v}").replaceAll(":item", "{i}").replaceAll(":file", "{f}").replaceAll(":token", "{t}")}\``,
      why,
      formatBytes(body),
      formatBytes(answer),
      formatNumber(d1),
      mark(formatNumber(rowsRead) + (streams ? " (streamed)" : ""), streams === true || rowsRead <= ROWS),
      formatNumber(rowsWritten),
      mark(formatBytes(stored), stored <= 4 * body + 4 * KIB),
      formatNumber(r2),
      mark(`${formatNumber(memory)} MiB`, memory <= MEMORY),
    ]),
  );

const formatCpu = (results: readonly CpuResult[]): string =>
  formatTable(
    ["write", "one, ms", "a group of 32, ms"],
    results.map(({ name, one, group }) => [name, mark(formatNumber(one), one <= CPU), formatNumber(group)]),
  );

await startServer();
const workerd = findWorkerd();
const names: readonly Named[] = await fetchJson({ path: "/bench/worst/names" });
const results: Measured[] = [];
for (const [index, request] of names.entries()) {
  results.push(await measure(request, index, workerd));
  console.error(formatRequests(results.slice(-1)).split("\n").at(-1));
}
await stopServer();
const exceptions = results
  .filter(({ stores }) => stores)
  .map(({ endpoint, why, stores }) => `\`${endpoint}\`, ${why}: ${stores}.`);
const report = [
  `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run limits\`. A figure in bold is beyond its bound.`,
  formatRequests(results),
  ...exceptions,
  "### CPU of a coordinator",
  formatCpu(measureCpu()),
].join("\n\n");
const text = readFileSync(FILE, "utf8");
const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
if (start < 0 || end < start) throw new Error(`${FILE} lacks the markers ${BEGIN} and ${END}`);
writeFileSync(FILE, `${text.slice(0, start)}${BEGIN}\n\n${report}\n\n${text.slice(end)}`);
spawnSync(process.execPath, ["node_modules/oxfmt/bin/oxfmt", FILE], { stdio: "inherit" });
