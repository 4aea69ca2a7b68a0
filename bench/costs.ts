/** `npm run bench -- costs`: counts what one of each operation takes, and writes what it costs into COSTS_FILE. */
import { readFileSync, writeFileSync } from "node:fs";
import { formatCosts } from "./costs/report.ts";
import type { OperationName } from "./costs/teams.ts";
import { logEntryOf, usageOf } from "./costs/usage.ts";
import { countCalls } from "./counts.ts";
import { COMMIT } from "./environment.ts";
import { type BenchRequest, fetchJson } from "./load.ts";
import { createItems, getItem, listItems, MIB, patchItems } from "./operations.ts";
import { resolve } from "./references.ts";
import { createFile, createVault, startServer, stopServer, uploadFile, type Vault } from "./server.ts";

const COSTS_FILE = "docs/operations.md";
const [BEGIN, END] = ["<!-- costs: written by `npm run bench -- costs` -->", "<!-- end of costs -->"];

/** A long poll that ends without an event after a second, which makes the same calls as one of 30 s. */
async function waitForEvents({ id, token }: Vault): Promise<BenchRequest> {
  const { last } = await fetchJson({ path: `/v1/vaults/${id}/events?after=latest`, token });
  return { path: `/v1/vaults/${id}/events?after=${last}&wait=1`, token };
}

async function measure() {
  const vault = await createVault(100);
  /** The log entry of a write and its entry in the index, deleted at the end of the retention. */
  const entry = 2;
  /** The version that a write keeps, deleted when there are newer ones. */
  const version = 1;
  const file = await createFile(vault, MIB);
  const read = await countCalls(getItem(vault));
  const usages = {
    "read an Item": usageOf(read, { cpu: 2 }),
    "resolve 1 reference": usageOf(await countCalls(resolve(vault, 1)), { cpu: 2 }),
    "resolve 100 references": usageOf(await countCalls(resolve(vault, 100)), { cpu: 6 }),
    "list 100 Items": usageOf(await countCalls(listItems(vault)), { cpu: 4 }),
    "create an Item": usageOf(await countCalls(createItems(vault)), { cpu: 4, deletedLater: entry }),
    "PATCH an Item": usageOf(await countCalls(patchItems(vault)), { cpu: 4, deletedLater: entry + version }),
    // The coordinator records the content, sets its alarm, and deletes the record with the commit.
    "upload 1 MiB": usageOf(await countCalls(uploadFile(vault, MIB)), {
      cpu: 10,
      deletedLater: entry + version,
      objectRows: 3,
      writesR2: true,
    }),
    "download 1 MiB": usageOf(await countCalls({ path: file.content, token: vault.token }), { cpu: 8 }),
    "wait 30 s for events": usageOf(await countCalls(await waitForEvents(vault)), { cpu: 2 }),
    "a denied read": { requests: 1, cpu: 1, ...logEntryOf(read.flush) },
  };
  return usages satisfies Record<OperationName, unknown>;
}

export async function measureCosts(): Promise<void> {
  await startServer();
  const text = `Counted on ${COMMIT}.\n\n${formatCosts(await measure())}`;
  await stopServer();
  console.log(text);
  const old = readFileSync(COSTS_FILE, "utf8");
  const [from, to] = [old.indexOf(BEGIN), old.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${COSTS_FILE} has no place for the tables`);
  writeFileSync(COSTS_FILE, `${old.slice(0, from)}${BEGIN}\n\n${text}\n${old.slice(to)}`);
}
