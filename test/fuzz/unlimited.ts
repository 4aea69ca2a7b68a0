import { sleep } from "../support/bindings.ts";
import { fetchRaw, makeToken, type Request_ } from "../support/service.ts";

/**
 * Requests to a vault with one of many tokens after the other: a single one runs into its rate limit in the long run.
 * Now and then they pause, because the timers of the Worker do not run while a test never waits, and 10,000 of them are too many.
 */
export async function unlimited(vault: string): Promise<(method: string, path: string, request?: Request_) => Promise<Response>> {
  const made = Array.from({ length: 20 }, () => makeToken({ [vault]: "rw" }));
  const tokens = (await Promise.all(made)).map(({ token }) => token);
  let turn = 0;
  return async (method, path, { headers, ...rest } = {}) => {
    if (turn % 1000 === 999) await sleep(1);
    const Authorization = `Bearer ${tokens[turn++ % tokens.length]}`;
    return fetchRaw(method, path, { ...rest, headers: { Authorization, ...(headers as Record<string, string>) } });
  };
}
