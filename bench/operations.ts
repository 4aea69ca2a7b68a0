/** The operations that are measured, each with its baselines. */
import type { BenchRequest } from "./load.ts";
import type { File, Vault } from "./server.ts";

/** A minimal implementation on the same storage: a route of worker/baselines.ts. */
export interface Baseline {
  readonly name: string;
  readonly request: BenchRequest;
}

export interface Operation {
  readonly name: string;
  readonly request: BenchRequest;
  readonly comparisons: readonly {
    readonly baseline: Baseline;
    /** The ratio of the operation's requests per second to those of the baseline that is aimed at. */
    readonly target: number;
    /** The ratio of another secrets service on the same platform. */
    readonly peer?: string;
    /** Distinguishes the comparisons of one operation in the chart. */
    readonly label?: string;
  }[];
}

/** Operations and baselines whose rounds are interleaved. */
export interface Group {
  readonly clients: number;
  /** The duration of a round. */
  readonly milliseconds: number;
  readonly operations: readonly Operation[];
  readonly baselines: readonly Baseline[];
}

/** The same request with simulated network latency (worker/variants.ts). */
export const withLatency = (request: BenchRequest): BenchRequest => ({ ...request, variant: "delayed" });

export const FEW_CLIENTS = 8;
export const MANY_CLIENTS = 100;
export const MIB = 1024 * 1024;
const PAGE = 100;

export const getItem = ({ item, token }: Vault): BenchRequest => ({ path: item, token });
export const listItems = ({ items, token }: Vault): BenchRequest => ({ path: `${items}?limit=${PAGE}`, token });
export const filterByTitle = ({ items, token }: Vault): BenchRequest => ({
  path: `${items}?filter=${encodeURIComponent('title eq "Item 1"')}`,
  token,
});
export const listVaults = ({ token }: Vault): BenchRequest => ({ path: "/v1/vaults", token });

/** How many bodies were made. Each body has another password, so that each write changes something. */
let bodies = 0;
const loginBody = (id: string, title: string) =>
  JSON.stringify({
    vault: { id },
    title,
    category: "LOGIN",
    tags: ["bench"],
    urls: [{ href: "https://db.example.com", primary: true }],
    fields: [
      { purpose: "USERNAME", value: "ada" },
      { purpose: "PASSWORD", value: `password ${bodies++}` },
    ],
  });
const patchBody = () => JSON.stringify([{ op: "replace", path: "/fields/password/value", value: `password ${bodies++}` }]);
/** The paths of the vault's Items in turn, as clients that write independently of each other would choose them. */
const nextItem =
  ({ itemPaths }: Vault) =>
  () =>
    itemPaths[bodies % itemPaths.length]!;

export const patchItems = (vault: Vault): BenchRequest => ({
  method: "PATCH",
  path: nextItem(vault),
  token: vault.token,
  body: patchBody,
});
export const patchOneItem = (vault: Vault): BenchRequest => ({ ...patchItems(vault), path: vault.item });
const putItems = (vault: Vault): BenchRequest => ({
  method: "PUT",
  path: nextItem(vault),
  token: vault.token,
  body: () => loginBody(vault.id, "Item"),
});
export const createItems = ({ id, items, token }: Vault): BenchRequest => ({
  method: "POST",
  path: items,
  token,
  body: () => loginBody(id, `Written ${bodies}`),
});

/** Each request deletes the next Item of the vault. */
export function deleteItems({ itemPaths, token }: Vault): BenchRequest {
  let deleted = 0;
  return { method: "DELETE", path: () => itemPaths[deleted++]!, token };
}

/**
 * `small` and `writable` have 100 Items, the second is the one that is written to; `large` has 50,000 Items; the list of `small` that
 * has not changed.
 */
export function createGroups(
  small: Vault,
  writable: Vault,
  large: Vault,
  files: readonly { name: string; file: File }[],
  unchangedList: BenchRequest,
): Group[] {
  const json: Baseline = { name: "JSON without storage", request: { path: "/bench/json" } };
  const select: Baseline = { name: "one SELECT", request: { path: `/bench/select?${small.baselineQuery}` } };
  const batch: Baseline = { name: "batch of three SELECTs", request: { path: `/bench/batch?${small.baselineQuery}` } };
  const rows: Baseline = { name: `SELECT of ${PAGE} rows`, request: { path: `/bench/rows?${small.baselineQuery}` } };
  const upsert: Baseline = {
    name: "Durable Object + upsert",
    request: { method: "POST", path: `/bench/upsert?${small.baselineQuery}`, body: patchBody },
  };
  const concurrentUpsert: Baseline = { ...upsert, name: `${upsert.name}, ${MANY_CLIENTS} clients` };
  const writes = (
    [
      ["PUT", putItems(writable)],
      ["PATCH", patchItems(writable)],
      ["POST", createItems(writable)],
    ] as const
  ).map(([name, request]) => ({ name, request, comparisons: [{ baseline: upsert, target: 0.75, peer: "0.19" }] }));
  const get = { name: "GET an Item", request: getItem(small), comparisons: [{ baseline: select, target: 0.75, peer: "0.26" }] };
  const filter = {
    name: "`title eq` among 50,000",
    request: filterByTitle(large),
    comparisons: [{ baseline: select, target: 0.7 }],
  };
  const list = { name: "list 100", request: listItems(small), comparisons: [{ baseline: rows, target: 0.8, peer: "0.37" }] };
  const unchanged = {
    name: `list ${PAGE}, unchanged`,
    request: unchangedList,
    comparisons: [{ baseline: rows, target: 1 }],
  };
  const concurrentPatch = {
    name: `PATCH, ${MANY_CLIENTS} clients`,
    request: patchItems(writable),
    comparisons: [{ baseline: concurrentUpsert, target: 1.1 }],
  };
  return [
    { clients: FEW_CLIENTS, milliseconds: 140, baselines: [json, select, batch], operations: [get, filter] },
    { clients: FEW_CLIENTS, milliseconds: 140, baselines: [rows], operations: [list, unchanged] },
    { clients: FEW_CLIENTS, milliseconds: 140, baselines: [upsert], operations: writes },
    { clients: MANY_CLIENTS, milliseconds: 250, baselines: [concurrentUpsert], operations: [concurrentPatch] },
    ...files.map(({ name, file }) => createDownloadGroup(name, file)),
  ];
}

function createDownloadGroup(size: string, { vault, content, key }: File): Group {
  const stream: Baseline = { name: `R2 stream as the body, ${size}`, request: { path: `/bench/stream?key=${key}` } };
  const pieces: Baseline = { name: `copied in JavaScript, ${size}`, request: { path: `/bench/pieces?key=${key}` } };
  const comparisons = [
    { baseline: stream, target: 0.45, label: ", stream" },
    { baseline: pieces, target: 0.8, label: ", pieces" },
  ];
  const operation = { name: `download ${size}`, request: { path: content, token: vault.token }, comparisons };
  return { clients: FEW_CLIENTS, milliseconds: 300, baselines: [stream, pieces], operations: [operation] };
}
