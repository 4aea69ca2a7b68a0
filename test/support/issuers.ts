import { env } from "cloudflare:workers";
import type { Behaviour, Received } from "../../scripts/webhook-receiver-control.ts";
import type { SigningKey } from "./workload-tokens.ts";

/** Issuers of workload tokens: a real HTTP server on this machine publishes their keys (scripts/webhook-receiver.ts). */

/** The origin of the server. */
export const ISSUERS_ORIGIN = env.WEBHOOK_TEST_ORIGIN!;

export interface Issuer {
  /** As `iss` in its tokens. */
  readonly url: string;
  readonly keysUrl: string;
  /** Sets what the server does with the next requests for its description and for its keys; the last one stays. */
  readonly describe: (...behaviours: readonly Behaviour[]) => Promise<void>;
  readonly publish: (...behaviours: readonly Behaviour[]) => Promise<void>;
  /** How many requests it got for its description and for its keys. */
  readonly requests: () => Promise<readonly [descriptions: number, keys: number]>;
  readonly received: () => Promise<readonly Received[]>;
}

/** The answer with these keys. */
export const setOf = (...keys: readonly SigningKey[]): Behaviour => ({ json: { keys: keys.map(({ jwk }) => jwk) } });

const controlOf = (path: string) => `${ISSUERS_ORIGIN}/control${path}`;

async function behave(path: string, behaviours: readonly Behaviour[]): Promise<void> {
  await (await fetch(controlOf(path), { method: "PUT", body: JSON.stringify(behaviours) })).text();
}

async function receivedAt(path: string): Promise<Received[]> {
  return (await fetch(controlOf(path))).json<Received[]>();
}

/** An issuer that describes itself as it must, and publishes these keys. In: what its URL ends with. */
export async function newIssuer(keys: readonly SigningKey[] = [], ending = ""): Promise<Issuer> {
  const path = `/${crypto.randomUUID()}`;
  const [description, set] = [`${path}/.well-known/openid-configuration`, `${path}/keys`];
  const [url, keysUrl] = [ISSUERS_ORIGIN + path + ending, ISSUERS_ORIGIN + set];
  await behave(description, [{ json: { issuer: url, jwks_uri: keysUrl } }]);
  await behave(set, [setOf(...keys)]);
  return {
    url,
    keysUrl,
    describe: (...behaviours) => behave(description, behaviours),
    publish: (...behaviours) => behave(set, behaviours),
    requests: async () => [(await receivedAt(description)).length, (await receivedAt(set)).length],
    received: async () => [...(await receivedAt(description)), ...(await receivedAt(set))],
  };
}
