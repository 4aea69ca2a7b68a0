import { type Hooks, rebindCoordinator, renewCoordinator, seeded, sleep } from "./bindings.ts";
import { alternatingCoordinators, delayedDatabase } from "./concurrent-patches.ts";
import { type Client, freshVault, LOGIN, type Reply } from "./service.ts";

/**
 * Retries a request as long as the answer has Retry-After, which a coordinator sends when the fence refused its commits five
 * times.
 */
export async function retryUntilAnswered(as: Client, ...request: Parameters<Client>): Promise<Reply> {
  for (;;) {
    const reply = await as(...request);
    if (!reply.headers.has("Retry-After")) return reply;
    await sleep(1);
  }
}

/** A new vault with two coordinators, which get the writes in turn and whose D1 calls have random delays; and requests to it. */
export async function contested(seed: number, hooks: Hooks = {}) {
  const random = seeded(seed);
  const { vault, items, call } = await freshVault();
  const names = [vault, `${vault} again`] as const;
  // Only the first coordinator gets the hooks.
  const first = { DB: delayedDatabase(random, hooks) };
  await rebindCoordinator(names[0], first);
  await rebindCoordinator(names[1], { DB: delayedDatabase(random, {}) });
  const bindings: Partial<Env> = { DB: delayedDatabase(random, {}), COORDINATOR: alternatingCoordinators(names) };
  const path = (item: string) => `${items}/${item}`;
  const put = (item: string, title: string, ifMatch?: string, as: Client = call, env = bindings): Promise<Reply> =>
    retryUntilAnswered(as, "PUT", path(item), {
      body: { ...LOGIN, title, vault: { id: vault } },
      headers: ifMatch === undefined ? {} : { "If-Match": ifMatch },
      env,
    });
  const get = (item: string, as: Client = call) => retryUntilAnswered(as, "GET", path(item), { env: bindings });
  const remove = (item: string, env = bindings) => retryUntilAnswered(call, "DELETE", path(item), { env });
  const post = (env = bindings) => retryUntilAnswered(call, "POST", items, { body: LOGIN, env });
  return {
    vault,
    items,
    call,
    random,
    bindings,
    post,
    put,
    get,
    remove,
    tagOf: async (item: string): Promise<string> => (await get(item)).headers.get("ETag")!,
    /** Evicts the first coordinator, so that its cache is empty. */
    renew: () => renewCoordinator(names[0], first),
    /** Bindings whose namespace always leads to one of the two coordinators. */
    only: (index: 0 | 1): Partial<Env> => ({ ...bindings, COORDINATOR: alternatingCoordinators([names[index]]) }),
    make: async (env = bindings): Promise<string> => (await post(env)).body.id,
  };
}

export const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
