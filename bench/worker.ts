import service from "../src/index.ts";
import { flushBatch } from "../src/store/activity/flush.ts";
import { baselines } from "./worker/baselines.ts";
import type { BenchEnv } from "./worker/bindings.ts";
import { refusedRoutes } from "./worker/refused-routes.ts";
import { setupRoutes } from "./worker/setup-routes.ts";
import { stubbed } from "./worker/stubs.ts";
import { intercepted } from "./worker/variants.ts";
import { worstRoutes } from "./worker/worst-routes.ts";

/** The Worker of the benchmark: the service as it is deployed, and under /bench/ the baselines and the setup routes. */

export { Operator, VaultCoordinator } from "../src/index.ts";
export { BaselineObject } from "./worker/baseline-object.ts";
export { StubbedD1Coordinator } from "./worker/stubs.ts";
export { CountedCoordinator, DelayedCoordinator, UnversionedCoordinator } from "./worker/variants.ts";

type Message = Parameters<typeof service.queue>[0]["messages"][number]["body"];

const routes = { ...baselines, ...setupRoutes, ...worstRoutes, ...refusedRoutes };
const variants = { ...intercepted, ...stubbed };
const created = new Map<string, Env>();

/**
 * The bindings of a variant. They are created once per isolate: the service caches values per `env` object, which the
 * platform keeps as long.
 */
function bindingsOf(env: BenchEnv, variant: string | null): Env {
  if (variant === null) return env;
  const bindings = created.get(variant) ?? variants[variant]!(env);
  created.set(variant, bindings);
  return bindings;
}

/** Flushes the log entries of the counted requests now, which the service does two seconds after them. */
async function flushCounted(env: BenchEnv): Promise<Response> {
  await flushBatch(bindingsOf(env, "counted"));
  return Response.json(null);
}

export default {
  ...service,
  fetch(request, env, ctx) {
    if (!request.url.includes("/bench/"))
      return service.fetch(request, bindingsOf(env, request.headers.get("X-Bench-Variant")), ctx);
    const url = new URL(request.url);
    return url.pathname === "/bench/flush" ? flushCounted(env) : routes[url.pathname]!(env, url.searchParams, request);
  },
} satisfies ExportedHandler<BenchEnv, Message>;
