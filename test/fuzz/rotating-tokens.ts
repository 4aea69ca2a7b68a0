import { sleep } from "../support/bindings.ts";
import { fetchRaw, makeToken, type Request_ } from "../support/service.ts";

/**
 * Sends the requests of a long run with 20 tokens in turn, so that no token reaches its rate limit. After each 1,000
 * requests it waits, because the timers of the Worker run only while the test waits, and 10,000 pending timers are too many.
 */
export async function rotatingTokens(
  vault: string,
): Promise<(method: string, path: string, request?: Request_) => Promise<Response>> {
  const issued = Array.from({ length: 20 }, () => makeToken({ [vault]: "rw" }));
  const tokens = (await Promise.all(issued)).map(({ token }) => token);
  let turn = 0;
  return async (method, path, { headers, ...rest } = {}) => {
    if (turn % 1000 === 999) await sleep(1);
    const Authorization = `Bearer ${tokens[turn++ % tokens.length]}`;
    return fetchRaw(method, path, { ...rest, headers: { Authorization, ...(headers as Record<string, string>) } });
  };
}
