import service from "../src/index.ts";
import type { BenchEnv } from "./worker/bindings.ts";
import { chores } from "./worker/chores.ts";
import { floors } from "./worker/floors.ts";
import { variants } from "./worker/variants.ts";
import { without } from "./worker/without.ts";

/** The service as it is deployed; beside it the floors, and what the benchmark needs to prepare and to count. */

export { VaultCoordinator } from "../src/index.ts";
export { FloorObject } from "./worker/floor-object.ts";
export { CountedCoordinator, DistantCoordinator } from "./worker/variants.ts";
export { ForgetfulCoordinator } from "./worker/without.ts";

type Message = Parameters<typeof service.queue>[0]["messages"][number]["body"];

const routes = { ...floors, ...chores };
const makers = { ...variants, ...without };
const made = new Map<string, Env>();

/** The bindings that the header X-Bench asks for. They stay what they are from one request to the next, as the platform's do. */
function bindings(env: BenchEnv, variant: string | null): Env {
  if (variant === null) return env;
  const known = made.get(variant) ?? makers[variant]!(env);
  made.set(variant, known);
  return known;
}

export default {
  ...service,
  fetch(request, env, ctx) {
    if (!request.url.includes("/bench/")) return service.fetch(request, bindings(env, request.headers.get("X-Bench")), ctx);
    const url = new URL(request.url);
    return routes[url.pathname]!(env, url.searchParams, request);
  },
} satisfies ExportedHandler<BenchEnv, Message>;
