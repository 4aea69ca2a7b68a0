import { LIMITS } from "../../../src/model/limits.ts";
import { largeItem, manyFields, manyOperations, times } from "./bodies.ts";
import { type Sent, tokenOfFullLogs, vaultWithContents, vaultWithItem, type World } from "./world.ts";

/** What one token can do at its worst: floods of legal requests, which may be refused. */

export interface Attack {
  readonly name: string;
  /** Creates the state. Out: the requests, which are sent at the same time. */
  readonly prepare: (world: World) => Promise<readonly (Sent & { readonly method: string })[]>;
}

const get = (path: string, token?: string) => ({ method: "GET", path, ...(token === undefined ? {} : { token }) });

export const ATTACKS: readonly Attack[] = [
  {
    name: "50 PATCHes of 50 bytes with keys on an Item of 512 KiB",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, largeItem());
      return times(50, (index) => ({
        method: "PATCH",
        path,
        token,
        body: [{ op: "replace", path: "/favorite", value: index % 2 === 0 }],
        headers: { "Idempotency-Key": `key-${index}` },
      }));
    },
  },
  {
    name: "12 PATCHes of 1,000 operations, 64 of which generate a value",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, manyFields);
      return times(12, () => ({ method: "PATCH", path, token, body: manyOperations }));
    },
  },
  {
    name: "10 pages of the activity log of 100 vaults",
    prepare: async (world) => {
      const { token } = await tokenOfFullLogs(world);
      return times(10, () => get("/v1/activity?limit=1000", token));
    },
  },
  {
    name: "5 lists of Files with 1 MiB of contents each",
    prepare: async (world) => {
      const { path, token } = await vaultWithContents(
        world,
        times(16, () => LIMITS.inlined / 16),
      );
      return times(5, () => get(`${path}/files?inline_files=true`, token));
    },
  },
  {
    name: "300 writes at once to one vault, more than may wait",
    prepare: async (world) => {
      const { items, token } = await vaultWithItem(world, { title: "One", category: "LOGIN" });
      return times(300, () => ({
        method: "POST",
        path: items,
        token,
        body: { title: "New", category: "LOGIN" },
      }));
    },
  },
  {
    name: "100 reads, each of which is logged",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, { title: "Read", category: "LOGIN" });
      return times(100, () => get(path, token));
    },
  },
  {
    name: "30 requests each without a token to /health and /metrics, and with an invalid one",
    prepare: async () => times(30, () => [get("/health"), get("/metrics"), get("/v1/vaults", "x.y.z")]).flat(),
  },
];
