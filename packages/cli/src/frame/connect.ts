import { type Client, createClient } from "@item-vault/client";
import { createFetch, type FetchOptions } from "./fetch.ts";
import type { Access } from "./settings.ts";

/** Returns a client of the service. `onlyItemVault` is `false` for another server of the same API, whose answers have no `Request-Id`. */
export const connectTo = ({ host, token, timeout, from }: Access, options: FetchOptions = {}): Client =>
  createClient({ host, token, fetch: createFetch(timeout, { ...options, from }) });
