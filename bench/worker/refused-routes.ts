import { OPEN_ROUTES, ROUTES } from "../../src/http/app.ts";
import { claimsOf, newKey } from "../../test/support/access-tokens.ts";
import { headerOf, type SigningKey, signToken } from "../../test/support/workload-tokens.ts";
import { type Credential, pathOf, refusalsWith } from "../../test/support/worst/refusals.ts";
import { ownVault } from "../../test/support/worst/world.ts";
import type { BenchRoute } from "./baselines.ts";
import { worldOf } from "./worst-routes.ts";

/** The routes of `npm run limits` for requests that are refused because of who sends them. */

let key: SigningKey | undefined;

/** The key of the team of Cloudflare Access that bench/wrangler.toml names. The `fetch` of this isolate serves its key set. */
async function keyOfTeam(issuer: string): Promise<SigningKey> {
  if (key) return key;
  const made = (key = await newKey());
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    return url === `${issuer}/cdn-cgi/access/certs` ? Response.json({ keys: [made.jwk] }) : fetch(input, init);
  };
  return made;
}

const refusalsOf = (env: Env) =>
  refusalsWith({
    env: {},
    tokenOf: async (email) => {
      const issuer = `https://${env.ACCESS_TEAM}.cloudflareaccess.com`;
      const own = await keyOfTeam(issuer);
      return signToken(headerOf(own), claimsOf({ issuer, audience: env.ACCESS_AUD }, email), own);
    },
  });

const requestOf = (method: string, path: string, { headers, body = {} }: Credential) => ({
  method,
  path,
  headers,
  json: method === "GET" || method === "DELETE" ? undefined : body,
});

export const refusedRoutes: Readonly<Record<string, BenchRoute>> = {
  /** Returns the names of the kinds, and the most D1 calls of a flood of each. */
  "/bench/refused/names": async (env) => Response.json(refusalsOf(env).map(({ name, calls }) => ({ name, calls }))),

  /** Creates the state of the kind with this index. Returns a request of each of its ids to each route, route by route. */
  "/bench/refused/prepare": async (env, query) => {
    const world = worldOf(env);
    const { vault } = await ownVault(world);
    const credentials = await refusalsOf(env)[Number(query.get("index"))]!.prepare(world, vault);
    const routes = [...OPEN_ROUTES, ...ROUTES];
    return Response.json(
      routes.map(({ method, path }) => credentials.map((credential) => requestOf(method, pathOf(path, vault), credential))),
    );
  },
};
