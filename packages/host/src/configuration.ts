import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import type { QueueSettings } from "./queue.ts";
import type { RateLimitSettings } from "./rate-limits.ts";

/** The parts of wrangler.toml that the host serves. Each binding is told there once. */
export interface Configuration {
  readonly vars: Readonly<Record<string, string | number>>;
  readonly secrets: { readonly required: readonly string[] };
  readonly d1_databases: readonly { readonly binding: string }[];
  readonly r2_buckets: readonly { readonly binding: string }[];
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] };
  readonly queues: {
    readonly producers: readonly { readonly binding: string; readonly queue: string }[];
    readonly consumers: readonly (QueueSettings & { readonly queue: string })[];
  };
  readonly ratelimits: readonly { readonly name: string; readonly simple: RateLimitSettings }[];
  readonly triggers: { readonly crons: readonly string[] };
  readonly assets: { readonly run_worker_first: readonly string[] };
}

export const loadConfiguration = (path: string): Configuration => parse(readFileSync(path, "utf8")) as unknown as Configuration;
