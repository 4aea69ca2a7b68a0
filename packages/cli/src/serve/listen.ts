import { isIPv4, isIPv6 } from "node:net";
import { CliError } from "../frame/failure.ts";

/** The address on which `serve` listens. */

export interface Place {
  readonly host: string;
  readonly port: number;
}

const malformed = () =>
  new CliError("--listen takes an address and a port, for example 127.0.0.1:8080 or [::1]:8080", { exit: "usage" });

/**
 * Parses `ADDRESS:PORT`; port 0 is any free port. Throws a CliError, also for an address that other machines can reach, unless `allowRemote`.
 */
export function parseListen(text: string, allowRemote = false): Place {
  const { v6, v4 = "", port = "" } = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>[^:]*)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  const host = v6 ?? (v4 === "localhost" ? "127.0.0.1" : v4);
  if (!(v6 === undefined ? isIPv4(host) : isIPv6(host)) || Number(port) > 65_535) throw malformed();
  if (!allowRemote && !/^127\.|^::1$/.test(host))
    throw new CliError(`${host} is no loopback address: other machines could connect, and nothing between them is encrypted`, {
      exit: "usage",
      hint: "Listen on 127.0.0.1 or [::1]. In a network that nobody else reads: --allow-remote.",
    });
  return { host, port: Number(port) };
}

/**
 * Returns true if the `Host` of a request is an IP address or localhost. A page of another site that reaches this server by its own DNS
 * (rebinding) sends the name of the site. A browser always sends the header.
 */
export function isAddress(host = "localhost"): boolean {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  return name === "localhost" || isIPv4(name) || (/^\[.*\]$/.test(name) && isIPv6(name.slice(1, -1)));
}

/** The URL of a place. */
export const urlOf = ({ host, port }: Place): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
