import type { Io } from "./io.ts";

/** The proxy of HTTPS_PROXY. Requests by http are not sent through a proxy: they go to this machine, or the token would be readable there. */

/** Returns the proxy as a URL, with `http://` if it has no scheme, as curl does. Returns `undefined` without a proxy, and for another protocol. */
function proxyOf({ https_proxy, HTTPS_PROXY }: Io["env"]): string | undefined {
  const given = https_proxy || HTTPS_PROXY || "";
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  return /^https?:/i.test(url) && URL.canParse(url) ? url : undefined;
}

export const hasProxy = ({ https_proxy, HTTPS_PROXY }: Io["env"]): boolean => Boolean(https_proxy || HTTPS_PROXY);

/** Node from 22.21 and 24.5 on has this variable, by which it uses all variables of proxies itself. */
const isUsedByNode = ({ NODE_USE_ENV_PROXY }: Io["env"]): boolean => NODE_USE_ENV_PROXY === "1";

let isUsed: boolean | undefined;

/** Sends the requests of this process through the proxy of the environment from now on. Does nothing in a Node that cannot. */
export async function useProxy(env: Io["env"]): Promise<void> {
  if (isUsed !== undefined || !hasProxy(env)) return;
  isUsed = isUsedByNode(env);
  const https_proxy = proxyOf(env);
  const { default: http } = await import("node:http");
  if (isUsed || https_proxy === undefined || !("setGlobalProxyFromEnv" in http)) return;
  try {
    http.setGlobalProxyFromEnv({ https_proxy, no_proxy: env["no_proxy"] ?? env["NO_PROXY"] });
    isUsed = true;
  } catch {
    // Node also reads HTTP_PROXY, which may be malformed.
  }
}

/** Returns a hint about the proxy of the environment for a failed request, if there is a proxy. */
export function proxyHint(env: Io["env"]): string | undefined {
  if (!hasProxy(env) || isUsed === undefined) return undefined;
  return isUsed
    ? "Requests by https go through HTTPS_PROXY; NO_PROXY names hosts that are reached without it."
    : "HTTPS_PROXY is set and not used: it takes an http or https URL, and Node 24.14 or later, or NODE_USE_ENV_PROXY=1.";
}
