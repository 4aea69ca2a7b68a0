import { createClient, type ItemVaultError } from "@item-vault/client";
import { checkScheme } from "../frame/connection.ts";
import { CliError } from "../frame/failure.ts";
import { createFetch } from "../frame/fetch.ts";
import { attributesOf, foreign, limited } from "./limited.ts";
import { isJwt, type Source, type Workload } from "./workload.ts";

/**
 * GitHub Actions gives a job with the permission `id-token: write` a URL and a token. With them the job requests a token that identifies it
 * (docs.github.com/actions/reference/security/oidc). Forgejo works in the same way.
 */

const URL_VARIABLE = "ACTIONS_ID_TOKEN_REQUEST_URL";
const TOKEN_VARIABLE = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

export const GITHUB: Source = {
  isOffered: ({ env }) => Boolean(env[URL_VARIABLE] && env[TOKEN_VARIABLE]),
  obtain,
  explain,
  type: "urn:ietf:params:oauth:token-type:id_token",
};

/** Requests a new token at each call. */
async function obtain({ env, options, audience, timeout }: Workload, signal?: AbortSignal): Promise<string> {
  const url = env[URL_VARIABLE]!;
  if (!URL.canParse(url) || !/^https?:\/\//.test(url)) throw new CliError(`${URL_VARIABLE} is no URL`, { exit: "usage" });
  checkScheme(env, url, options);
  const { origin, pathname, search } = new URL(url);
  const send = limited(createFetch(timeout, { onlyItemVault: false }));
  const client = createClient({ host: origin, token: env[TOKEN_VARIABLE]!, fetch: send });
  const path = `${pathname}${search}${search === "" ? "?" : "&"}audience=${encodeURIComponent(audience)}`;
  const { value } = await attributesOf(await client.send("GET", path, { signal, attempts: 1 }), "GitHub Actions");
  if (typeof value === "string" && isJwt(value)) return value;
  throw foreign(`What answers at ${origin} for GitHub Actions gives no token`);
}

const REFUSED = new Set([401, 403]);

/** Only the failures that this program describes itself have their message: an answer may hold anything. */
function explain({ status, message }: ItemVaultError): CliError {
  const what = status === 0 ? `GitHub Actions gave no token. ${message}` : `GitHub Actions gave no token: it answered ${status}`;
  if (!REFUSED.has(status)) return new CliError(what, { exit: "unavailable", hint: "Run the job again." });
  return new CliError(what, { exit: "denied", hint: "The job needs `permissions: { id-token: write }`." });
}
