import { parse } from "smol-toml";
import { expect, it } from "vitest";
import bench from "../../bench/wrangler.toml?raw";
import manifest from "../../package.json" with { type: "json" };
import service from "../../wrangler.toml?raw";

/** The benchmark runs the service with all that the service binds: else it fails with the first request that needs the rest. */

type Table = Readonly<Record<string, any>>;

/** The names of all bindings, variables and consumed queues of a configuration. */
function bindingsOf(text: string): string[] {
  const { vars, d1_databases, r2_buckets, durable_objects, queues, ratelimits } = parse(text) as Table;
  const bindings: readonly Table[] = [...d1_databases, ...r2_buckets, ...durable_objects.bindings, ...queues.producers];
  return [
    ...Object.keys(vars),
    ...bindings.map(({ binding, name }) => binding ?? name),
    ...queues.consumers.map(({ queue }: Table) => `consumer of ${queue}`),
    ...ratelimits.map(({ name }: Table) => name),
  ];
}

it("package.json describes nothing to the Deploy button that wrangler.toml does not bind, or that is no secret", () => {
  const { secrets } = parse(service) as Table;
  const names = new Set([...bindingsOf(service), ...Object.values(secrets as Record<string, string[]>).flat()]);
  expect(Object.keys(manifest.cloudflare.bindings).filter((name) => !names.has(name))).toEqual([]);
});

it("bench/wrangler.toml binds everything that wrangler.toml binds", () => {
  const bound = new Set(bindingsOf(bench));
  expect(bindingsOf(service).length).toBeGreaterThan(20);
  expect(bindingsOf(service).filter((name) => !bound.has(name))).toEqual([]);
});
