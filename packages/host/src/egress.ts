import { lookup as lookUp, type LookupAddress } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from "node:http";
import { request as requestByHttps } from "node:https";
import { BlockList, isIP } from "node:net";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { HostResponse } from "./platform/response.ts";

/**
 * The `fetch` of the Worker, for webhooks and the keys of issuers. It connects to public addresses only: on Cloudflare a Worker reaches no private
 * network, and here it could. It follows no redirects, and ignores caches and proxies. No error has a part of the URL.
 */

export interface EgressOptions {
  /** Resolves when every commit that a request may reveal is on disk; undefined if it is already. */
  readonly settled: () => Promise<void> | undefined;
  /** Networks (`10.1.0.0/16`) and hosts (`hooks.corp.example`, with or without a port) that are allowed although their addresses are private. */
  readonly allowed: { readonly networks: readonly string[]; readonly hosts: readonly string[] };
  /** Looks a name up. Default: as the system does. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

/** IPv4 that is not public (IANA IPv4 Special-Purpose Address Registry, RFC 6890), multicast and the reserved class E. */
const PRIVATE_4 = [
  ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"],
  ["192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
].flat();
/** Global unicast (RFC 4291 section 2.4). Loopback, unique local, link-local, multicast, IPv4-mapped and NAT64 addresses are outside of it. */
const GLOBAL_6 = ["2000::/3"];
/** Addresses that are not public: protocol assignments with Teredo, 6to4, and documentation (IANA IPv6 Special-Purpose Address Registry). */
const PRIVATE_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Returns a list of networks. Throws an error for the operator if a text is no network. */
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(network) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits) > (version === 4 ? 32 : 128))
      throw new Error(`${network} is no network, such as 10.1.0.0/16 or fd00::/8`);
    list.addSubnet(address, Number(bits), family(version));
  }
  return list;
}

const family = (version: number) => (version === 4 ? "ipv4" : "ipv6");

const [private4, global6, private6] = [PRIVATE_4, GLOBAL_6, PRIVATE_6].map(listOf) as [BlockList, BlockList, BlockList];

/** Returns true for an address that is reachable from the whole Internet. */
const isPublic = (address: string, version: number): boolean =>
  version === 4
    ? !private4.check(address, "ipv4")
    : version === 6 && global6.check(address, "ipv6") && !private6.check(address, "ipv6");

/** Limit for a connection on which no byte moves. Callers have shorter limits for the whole request. */
const IDLE_TIMEOUT_MS = 60_000;

export function createEgress({ settled, allowed, resolve = lookUpAll }: EgressOptions): typeof fetch {
  const networks = listOf(allowed.networks);
  const hosts = new Set(allowed.hosts.map((host) => host.toLowerCase()));

  /** Returns the addresses of a host to which the Worker may connect. Throws if there are none. */
  async function addressesOf({ hostname, host }: URL): Promise<LookupAddress[]> {
    const literal = hostname.replace(/^\[(.*)\]$/, "$1");
    const version = isIP(literal);
    const found = version === 0 ? await resolve(hostname) : [{ address: literal, family: version }];
    if (hosts.has(hostname) || hosts.has(host)) return [...found];
    const open = found.filter((one) => isPublic(one.address, one.family) || networks.check(one.address, family(one.family)));
    if (open.length === 0) throw new Error("no public address");
    return open;
  }

  const egress = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { signal } = init;
    try {
      const url = new URL(input);
      const [addresses] = await Promise.all([untilAborted(addressesOf(url), signal), settled()]);
      signal?.throwIfAborted();
      return answerOf(await responseOf(send(url, addresses, init)));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw failureOf(error);
    }
  };
  return egress as typeof fetch;
}

/** Returns an error with the code alone: the message may have the name of the host, which is a part of the URL. */
const failureOf = (error: unknown): TypeError =>
  new TypeError(`The request failed: ${(error as NodeJS.ErrnoException).code ?? "it was not sent to a public address"}`);

const lookUpAll = (hostname: string): Promise<LookupAddress[]> => promisify(lookUp)(hostname, { all: true });

/** Waits for a promise, or throws when the signal aborts. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Sends a request to one of the addresses. `Host` and the certificate keep the name in the URL. */
function send(
  url: URL,
  addresses: readonly LookupAddress[],
  { method, headers: own, body: given, signal }: RequestInit,
): ClientRequest {
  const headers = new Headers(own);
  const body = given instanceof URLSearchParams ? given.toString() : given;
  if (body !== given && !headers.has("Content-Type"))
    headers.set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8");
  if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("the body is neither a text, a form nor bytes");
  const [first] = addresses;
  const sent = (url.protocol === "https:" ? requestByHttps : requestByHttp)(url.href, {
    method: method ?? "GET",
    headers: { ...Object.fromEntries(headers), host: url.host },
    agent: false, // a new connection: the agent of the process may use proxies, and reuse connections whose name had another address
    lookup: (_, { all }, done) => (all ? done(null, [...addresses]) : done(null, first!.address, first!.family)),
    timeout: IDLE_TIMEOUT_MS,
    rejectUnauthorized: true, // in spite of NODE_TLS_REJECT_UNAUTHORIZED
    ...(signal && { signal }),
  });
  sent.on("timeout", () => sent.destroy(new Error("timeout")));
  return sent.end(body ?? undefined);
}

const responseOf = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
  });

/** Statuses without a body. */
const BODILESS = new Set([204, 205, 304]);

/** Returns the answer. Its body is read as the Worker consumes it. */
function answerOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders: raw } = answer;
  const headers = new Headers(raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]!]] : [])) as [string, string][]);
  const isBodiless = BODILESS.has(status);
  if (isBodiless) answer.resume();
  const body = isBodiless ? null : (Readable.toWeb(answer) as unknown as ReadableStream);
  return new HostResponse(body, { status, headers }) as unknown as Response;
}
