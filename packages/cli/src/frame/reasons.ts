import { getSystemErrorMap } from "node:util";

/** Refusals of the operating system and of connections, in words. */

/** Words for refusals where the system's own words ("permission denied") are misleading. */
const OF_SYSTEM: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file, not a folder",
  EADDRINUSE: "the port is already in use",
  EADDRNOTAVAIL: "this machine does not have the address",
};

/** Why there is no connection, by the codes of Node, OpenSSL and undici. */
const OF_CONNECTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name cannot be looked up at the moment",
  ENETUNREACH: "the network is unreachable",
  EHOSTUNREACH: "the host is unreachable",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted (self-signed)",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted (self-signed authority)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted (unknown authority)",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is not trusted (unknown authority)",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not trusted (unknown authority)",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  ERR_SSL_WRONG_VERSION_NUMBER: "the port does not speak https; is it http?",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "the port does not speak https; is it http?",
};

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? "unknown fault";

/** Returns why the operating system refused something: "it does not exist", "permission denied (EACCES)". */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const [, words] = getSystemErrorMap().get((error as NodeJS.ErrnoException | undefined)?.errno ?? 0) ?? [];
  return OF_SYSTEM[code] ?? (words === undefined ? code : `${words} (${code})`);
}

/** Returns why `fetch` could not connect; undefined if it connected, or if the reason is not known. */
export const connectionFaultOf = (error: unknown): string | undefined => OF_CONNECTIONS[codeOf((error as Error).cause)];
