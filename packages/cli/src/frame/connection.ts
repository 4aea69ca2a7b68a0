import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";

/** The connection of a command to the service: options and variables besides host and token. */

export interface ConnectionOptions {
  readonly host?: string | undefined;
  readonly timeout?: string | undefined;
  readonly "allow-http"?: boolean | undefined;
}

/** Time limit for a silent service. A request of the admin may be a step of a backup or a restore, and takes longer. */
const SILENCE_SECONDS_MAX = { user: 10, admin: 60 } as const;

/** Returns how long to wait for the service, in milliseconds. Throws a CliError for a text that is not a number of seconds. */
export function timeoutOf(env: Io["env"], { timeout }: ConnectionOptions, admin = false): number {
  const given = timeout ?? (env["ITEM_VAULT_TIMEOUT"] || undefined);
  if (given === undefined) return SILENCE_SECONDS_MAX[admin ? "admin" : "user"] * 1000;
  const seconds = /^\d{1,5}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (seconds > 0) return seconds * 1000;
  const name = timeout === undefined ? "ITEM_VAULT_TIMEOUT" : "--timeout";
  throw new CliError(`${name} takes seconds, for example 10 or 0.5`, { exit: "usage" });
}

/**
 * Returns the same text for hosts of the same service: as the URL parser writes it, without a final `/v1` and slashes, which the client
 * leaves out.
 */
export const normalizedHost = (host: string): string => {
  const url = URL.canParse(host) ? new URL(host).href : host;
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
};

/** Throws a CliError for a URL with a user name or a password, which fetch refuses. The message contains neither. */
export function checkCredentials(host: string): void {
  const { username, password } = URL.canParse(host) ? new URL(host) : { username: "", password: "" };
  if (username === "" && password === "") return;
  throw new CliError("The host has a username or a password", {
    exit: "usage",
    hint: "Remove the part before the @: only a token is sent.",
  });
}

/**
 * Throws a CliError for a text that is not an http or https URL, for a URL with a user name or a password, and for http to another machine
 * unless the user allows it.
 */
export function checkScheme(env: Io["env"], host: string, options: ConnectionOptions): void {
  if (!/^https?:\/\/[^/]/i.test(host) || !URL.canParse(host))
    throw new CliError("The host is not an http or https URL", { exit: "usage", hint: "Write it as https://vault.example.com." });
  checkCredentials(host);
  const { protocol, hostname } = new URL(host);
  const isAllowed = options["allow-http"] === true || env["ITEM_VAULT_ALLOW_HTTP"] === "1";
  if (protocol === "https:" || isThisMachine(hostname) || isAllowed) return;
  throw new CliError(`The token would be sent unencrypted to ${hostname}`, {
    exit: "usage",
    hint: "Use https. In a network that you trust: --allow-http, or ITEM_VAULT_ALLOW_HTTP=1.",
  });
}

/** Returns true if a host name in lower case is this machine. Names under `localhost` are not: some resolvers ask the network for them. */
export const isThisMachine = (hostname: string): boolean => /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname);
