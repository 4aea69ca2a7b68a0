import { fits, LIMITS } from "./limits.ts";
import { PUBLIC_HOST_RULES } from "./public-host.ts";

/** The URLs of issuers of workload tokens, and of their keys (OpenID Connect Discovery 1.0). */

type Rules = readonly (readonly [isBroken: (url: URL, text: string) => boolean, fault: string])[];

const HTTPS: Rules = [[({ protocol }) => protocol !== "https:", "does not begin with https://"]];

const KEYS_RULES: Rules = [
  [({ username, password }) => username !== "" || password !== "", "contains a user name or password"],
  [({ href }) => href.includes("#"), "has a fragment"],
];

/** A token names its issuer by one text, so a URL has one spelling: as `URL` writes it, or without the path `/`. */
const ISSUER_RULES: Rules = [
  ...KEYS_RULES,
  [({ href }) => href.includes("?"), "has a query"],
  [({ href }, text) => href !== text && href !== `${text}/`, "is not spelled in its canonical form"],
];

/** Where the keys of an issuer come from: the service fetches them, or the admin gives them. */
export type KeySource = "fetched" | "given";

/**
 * What is wrong with the URL of an issuer (OpenID Connect Discovery 1.0 section 3); `undefined` when it is allowed. In: the text as the admin
 * wrote it; the origin of this machine that is allowed for tests, if one is set. An issuer whose keys are given is never sent a request, so its
 * host may be one of a local network, as that of a Kubernetes cluster is. Out: never a part of the URL.
 */
export const issuerUrlFault = (text: string, source: KeySource, testOrigin?: string): string | undefined =>
  urlFault(text, testOrigin, ISSUER_RULES, source === "given" ? HTTPS : [...HTTPS, ...PUBLIC_HOST_RULES]);

/** What is wrong with the `jwks_uri` of an issuer (OpenID Connect Discovery 1.0 section 3); `undefined` when keys may be fetched from it. */
export const keysUrlFault = (text: string, testOrigin?: string): string | undefined =>
  urlFault(text, testOrigin, KEYS_RULES, [...HTTPS, ...PUBLIC_HOST_RULES]);

/** In: the rules of every URL, and those that do not hold for the origin for tests. */
function urlFault(text: string, testOrigin: string | undefined, rules: Rules, publicRules: Rules): string | undefined {
  if (!fits(text, LIMITS.webhookUrl)) return `is longer than ${LIMITS.webhookUrl} bytes`;
  // `URL` would drop some of the other characters, and what it parses would not be what was written.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes("\\") || !URL.canParse(text)) return "is not a URL";
  const url = new URL(text);
  const applied = url.origin === testOrigin ? rules : [...publicRules, ...rules];
  return applied.find(([isBroken]) => isBroken(url, text))?.[1];
}

/** Where an issuer describes itself (OpenID Connect Discovery 1.0 section 4): a slash at the end of its path is removed before. */
export const discoveryUrlOf = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
