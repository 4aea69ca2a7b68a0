import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createClient } from "../../packages/client/src/index.ts";
import worker from "../../src/index.ts";
import { client, freshVault, LOGIN } from "../support/service.ts";

/** `@item-vault/client` in a Worker, whose `fetch` differs from that of Node. */

/** As the global fetch does, `new Request` refuses options that Workers do not have. */
const send: typeof fetch = async (url, init) => worker.fetch(new Request(url, init), env, createExecutionContext());

it("the client of this repository reads a secret and follows the events in a Worker", async () => {
  const { vault, token } = await freshVault();
  const fields = [{ purpose: "PASSWORD", value: "correct horse" }];
  await client(token)("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, fields } });
  const own = createClient({ host: "https://vault.test", token, fetch: send });
  expect(await own.get(`op://${vault}/Login/password`)).toBe("correct horse");
  for await (const { type, sequence } of own.events({ vault, after: "0" })) {
    expect([type, sequence]).toEqual(["vault.created", 1]);
    break;
  }
});
