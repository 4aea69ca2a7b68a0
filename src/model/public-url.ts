import { fits, LIMITS } from "./limits.ts";

/**
 * URLs from admins: of webhooks, of issuers of workload tokens, and of the issuers' keys (OpenID Connect Discovery 1.0). One rule
 * of hosts and ports holds for every URL to which the service sends requests. A Worker cannot see the address of a name before it
 * connects. A name that resolves to a private address therefore passes: see docs/security.md.
 */

/** Rules in order, each with its fault. */
type Rules = readonly (readonly [isBroken: (url: URL, text: string) => boolean, fault: string])[];

/**
 * Domains without public hosts: RFC 6761, 6762, 7686, 8375 and 9476, names that ICANN never delegates, and common names in
 * private networks and clusters.
 */
const LOCAL = new RegExp(
  `(^|\\.)(${[
    "localhost|local|localdomain|localnet|test|example|invalid|onion|alt|arpa|internal|corp|home|mail",
    "intranet|intra|intern|inner|infra|lab|homelab|dmz|mesh|weave|private|priv|privat|lan|wlan|vpn|loc|lcl|dom|domain|workgroup|router|gateway|modem|dhcp|server|mdns",
    "svc|cluster|k8s|kube|kubernetes|pod|default|node|service|docker|container|containers|podman|swarm|rancher|mesos|marathon",
    "consul|nomad|lxd|lxc|incus|vm|vagrant|wsl|openstacklocal|novalocal",
  ].join("|")})$`,
);

/** Two labels or more, and the last one is not a number: `URL` turns every spelling of an IPv4 address into digits. */
const NAME = /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/;

const HTTPS: Rules = [[({ protocol }) => protocol !== "https:", "does not begin with https://"]];

/** Not for the origin for tests. */
const PUBLIC: Rules = [
  ...HTTPS,
  [({ port }) => port !== "", "has a port other than 443"],
  [({ hostname }) => !NAME.test(hostname), "names no host by its full domain name"],
  [({ hostname }) => LOCAL.test(hostname), "names a host of a local network"],
];

const EVERY: Rules = [
  [({ username, password }) => username !== "" || password !== "", "contains a user name or password"],
  [({ href }) => href.includes("#"), "has a fragment"],
];

/** A token names its issuer by one text, so a URL has one spelling: as `URL` writes it, or without the path `/`. */
const ISSUER: Rules = [
  ...EVERY,
  [({ href }) => href.includes("?"), "has a query"],
  [({ href }, text) => href !== text && href !== `${text}/`, "is not spelled in its canonical form"],
];

/**
 * Returns the fault of a webhook's URL (contract 17.3) or of an issuer's `jwks_uri`, or undefined if the service may send
 * requests to it. The fault quotes no part of the URL, which may contain a secret. `allowedOrigins` need not be public.
 */
export const publicUrlFault = (text: string, allowedOrigins: readonly string[] = []): string | undefined =>
  urlFault(text, allowedOrigins, PUBLIC, EVERY);

/** The source of an issuer's keys: the service fetches them, or the admin gives them. */
type KeySource = "fetched" | "given";

/**
 * Returns the fault of an issuer's URL (OpenID Connect Discovery 1.0 section 3), as `publicUrlFault` does. An issuer with given
 * keys is never sent a request. It may therefore have any host and port, as in a Kubernetes cluster.
 */
export const issuerUrlFault = (text: string, source: KeySource, allowedOrigins: readonly string[] = []): string | undefined =>
  urlFault(text, allowedOrigins, source === "given" ? HTTPS : PUBLIC, ISSUER);

function urlFault(text: string, allowedOrigins: readonly string[], hosts: Rules, rules: Rules): string | undefined {
  if (!fits(text, LIMITS.webhookUrl)) return `is longer than ${LIMITS.webhookUrl} bytes`;
  // `URL` drops some other characters, so the parsed URL would differ from the text.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes("\\") || !URL.canParse(text)) return "is not a URL";
  const url = new URL(text);
  const applied = allowedOrigins.includes(url.origin) ? rules : [...hosts, ...rules];
  return applied.find(([isBroken]) => isBroken(url, text))?.[1];
}

/**
 * Returns the URL of an issuer's discovery document (OpenID Connect Discovery 1.0 section 4). A slash at the end of the issuer's
 * path is removed.
 */
export const discoveryUrlOf = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
