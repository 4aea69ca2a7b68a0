/**
 * The hosts to which the service may send requests of its own: those of webhooks and of the issuers of workloads. A Worker cannot see the
 * address of a name before it connects, so a name that resolves to a private address passes: see docs/security.md.
 */

/** Domains that name hosts of a local network, or none at all (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and common local names). */
const LOCAL = /(^|\.)(localhost|local|localdomain|internal|intranet|private|corp|home|lan|arpa|test|example|invalid|onion|alt)$/;

/** Two labels or more, of which the last one is no number: `URL` has turned every spelling of an IPv4 address into digits. */
const NAME = /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/;

/** The rules of a URL whose host is public, in order, and what is wrong with a URL that breaks one. */
export const PUBLIC_HOST_RULES: readonly (readonly [isBroken: (url: URL) => boolean, fault: string])[] = [
  [({ hostname }) => !NAME.test(hostname), "names no host by its full domain name"],
  [({ hostname }) => LOCAL.test(hostname), "names a host of a local network"],
];
