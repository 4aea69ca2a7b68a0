import { LIMITS } from "../../../src/model/limits.ts";
import { KEYS_MAX } from "../../../src/model/workload-keys.ts";
import { RULE_LIMITS } from "../../../src/model/workload-rule.ts";
import { type Json, newSigningKey, tokenOf } from "../workload-tokens.ts";
import { times } from "./bodies.ts";
import type { World } from "./world.ts";

/** The largest issuer of workload tokens, and its exchanges. */

const CLAIMS = Object.fromEntries(times(RULE_LIMITS.claims, (index) => [`claim${index}`, "x".repeat(300)]));

/** An issuer with as many keys and rules as there may be, but one rule, each of 100 vaults and 32 claims. */
export async function largestIssuer({ ask, env }: World) {
  const key = await newSigningKey("ES256");
  const jwks = { keys: times(KEYS_MAX, (index) => (index === 0 ? key.jwk : { ...key.jwk, kid: `key ${index}` })) };
  const url = `https://${crypto.randomUUID()}.example.com`;
  const { id } = await ask("POST", "/v1/admin/issuers", env.ADMIN_TOKEN, { name: "largest", issuer: url, jwks });
  const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw"]));
  const body = { issuer: id, name: "x".repeat(LIMITS.title), claims: CLAIMS, vaults };
  const rules: string[] = [];
  for (let count = 1; count < LIMITS.tokenDescendants; count++) {
    const claims = { ...CLAIMS, claim0: `rule ${count}` };
    rules.push((await ask("POST", "/v1/admin/rules", env.ADMIN_TOKEN, { ...body, claims })).id as string);
  }
  const signed = (claims: Json = {}): Promise<string> => tokenOf(url, key, { ...CLAIMS, ...claims });
  return { issuer: id as string, jwks, body, rule: rules.at(-1)!, signed };
}
