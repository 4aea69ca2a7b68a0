import { existsSync, realpathSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Values } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { type Place, parseListen } from "../serve/listen.ts";
import type { SERVER_OPTIONS } from "./table.ts";

/** The options of `server` as values. */
export interface ServerSettings {
  readonly data: string;
  readonly secretsPath: string;
  /** The bits of its mode that must be closed. */
  readonly closed: number;
  readonly listen: Place;
  readonly origin: string | undefined;
  readonly trustedProxies: number;
  /** Private networks and hosts that webhooks and the keys of issuers may be at. */
  readonly allowed: { readonly networks: readonly string[]; readonly hosts: readonly string[] };
  /** The settings of `--set`, by their names. */
  readonly variables: Readonly<Record<string, string>>;
}

const usage = (message: string, hint?: string): CliError =>
  new CliError(message, { exit: "usage", ...(hint !== undefined && { hint }) });

/** Parses the options. `names` are the settings that `--set` may name. Throws a CliError. */
export function parseServerSettings(
  { env }: Io,
  options: Values<typeof SERVER_OPTIONS>,
  names: readonly string[],
): ServerSettings {
  if (options.data === undefined) throw usage("--data is missing", "Name the directory of the data: --data ~/item-vault");
  const data = resolve(options.data);
  const listen = parseListen(options.listen ?? "127.0.0.1:8080", true);
  const origin = options.origin === undefined ? undefined : parseOrigin(options.origin);
  if (!/^127\.|^::1$/.test(listen.host) && !origin?.startsWith("https://"))
    throw usage(
      `${listen.host} is no loopback address: clients of other machines need https`,
      "Put a proxy that ends TLS in front of the server, and name its origin: --origin https://vault.example.com",
    );
  const proxies = options["trust-proxy"] ?? "0";
  if (!/^\d$/.test(proxies)) throw usage("--trust-proxy takes a number from 0 to 9");
  for (const network of options["allow-network"] ?? []) checkNetwork(network);
  const credential = credentialOf(env);
  const secretsPath = resolve(options["root-keys"] ?? credential ?? `${data}.secrets`);
  if (!relative(realOf(data), realOf(secretsPath)).startsWith(".."))
    throw usage(
      `${secretsPath} is in the directory of the data`,
      "A copy of the directory would have its keys: keep them apart.",
    );
  return {
    data,
    secretsPath,
    // systemd gives a DynamicUser its credential by an access control list, which shows as a right of the group (systemd#29435).
    closed: secretsPath === credential ? 0o037 : 0o077,
    listen,
    origin,
    trustedProxies: Number(proxies),
    allowed: { networks: options["allow-network"] ?? [], hosts: options["allow-host"] ?? [] },
    variables: Object.fromEntries((options.set ?? []).map((text) => parseVariable(text, names))),
  };
}

/** Follows the symbolic links of a path, of which the end may be missing. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** The name of the credential for `LoadCredential=` of systemd. */
const CREDENTIAL = "item-vault";

function credentialOf({ CREDENTIALS_DIRECTORY = "" }: Io["env"]): string | undefined {
  const path = CREDENTIALS_DIRECTORY === "" ? undefined : resolve(CREDENTIALS_DIRECTORY, CREDENTIAL);
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Only an origin: a path would be ignored. */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, ""))
    throw usage("--origin takes a scheme and a host, for example https://vault.example.com");
  return url.origin;
}

function checkNetwork(text: string): void {
  const [address = "", bits = ""] = text.split("/");
  try {
    if (!/^\d{1,3}$/.test(bits)) throw new Error("no length");
    new BlockList().addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  } catch {
    throw usage(`--allow-network takes a network such as 10.0.0.0/8, and not ${JSON.stringify(text)}`);
  }
}

function parseVariable(text: string, names: readonly string[]): readonly [name: string, value: string] {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw usage("--set takes a name and a value, for example VERSIONS_KEPT=20");
  if (!names.includes(name)) throw usage(`--set: there is no setting ${name}`, `The settings are ${names.join(", ")}.`);
  return [name, value];
}
