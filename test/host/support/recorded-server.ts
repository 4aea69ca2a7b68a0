import fs from "node:fs";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/**
 * The server as a process that keeps what the disk would have after a loss of power. Before each sync of the log it copies the database and the
 * log: once the sync has ended, the disk has at least those. It notes beside each acknowledged Item which sync was the last one then.
 */

const [data, release, copies, secrets, every] = process.argv.slice(2) as [string, string, string, string, string];
const database = join(data, "item-vault.db");
let begun = 0;
let ended = 0;
const acknowledged: { item: string; version: number; sync: number }[] = [];

const textOf = (body: unknown): string => (typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array));

const sync = fs.fdatasync;
fs.fdatasync = ((fd: number, done: fs.NoParamCallback) => {
  const number = ++begun;
  // The database first: a page of it that is newer than the copy of the log would be one that a checkpoint had synced in the log.
  if (number % Number(every) < 2)
    for (const end of ["", "-wal"]) fs.copyFileSync(database + end, join(copies, `${number}${end}`));
  sync(fd, (error) => {
    ended = number;
    done(error);
  });
}) as typeof fs.fdatasync;

const { end } = http.ServerResponse.prototype; // oxlint-disable-line typescript/unbound-method -- called with its `this` below
http.ServerResponse.prototype.end = function (this: http.ServerResponse, ...values: unknown[]) {
  const { method, url } = this.req;
  if (this.statusCode === 200 && (method === "POST" || method === "PUT") && /\/items/.test(url!)) {
    const { id, version } = JSON.parse(textOf(values[0])) as { id: string; version: number };
    acknowledged.push({ item: id, version, sync: ended });
  }
  return end.apply(this, values as Parameters<typeof end>);
} as typeof end;
syncBuiltinESMExports();

const { openHost } = await import("../../../packages/host/src/host.ts");
const report = (...words: unknown[]) => console.error(...words);
const host = await openHost({
  release,
  data,
  loadVariables: async () => JSON.parse(secrets) as Record<string, string>,
  checks: false,
  allowed: { networks: [], hosts: [] },
  listen: { host: "127.0.0.1", port: 0 },
  origin: undefined,
  trustedProxies: 0,
  report,
  fail: report,
});
console.error(`listening on ${await host.start()}`);
process.once("SIGTERM", () => {
  fs.writeFileSync(join(copies, "acknowledged.json"), JSON.stringify(acknowledged));
  process.exit();
});
