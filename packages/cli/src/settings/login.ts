import { createClient } from "@item-vault/client";
import type { Call } from "../frame/command.ts";
import { connectTo } from "../frame/connect.ts";
import { checkScheme, normalizedHost, timeoutOf } from "../frame/connection.ts";
import { CliError } from "../frame/failure.ts";
import { createFetch } from "../frame/fetch.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { ask, askSecret } from "../frame/prompt.ts";
import { checkToken, hostOf, loadConfig } from "../frame/settings.ts";
import { VERSION } from "../frame/version.ts";
import { tell } from "../output/format.ts";
import { changeConfig, NO_TOKENS } from "./config-file.ts";
import { loginRequestOf, type LoginToken, redeemCode } from "./login-request.ts";
import type { LOGIN_OPTIONS } from "./table.ts";

/**
 * `login`: stores a host and a token in place of a command that prints the token. The token is one that the service accepts, or one that a
 * person gets by confirming the login in the console.
 */
export async function run(call: Call<typeof LOGIN_OPTIONS>): Promise<void> {
  const { io, options } = call;
  checkOptions(options);
  const config = await loadConfig(io.env);
  const known = hostOf(io.env, options.host, config);
  const host = known ?? (await ask(io, "Host: ", { instead: "Add --host." }));
  checkScheme(io.env, host, options);
  const isPerson = options.browser === true || options.code === true;
  const person = isPerson ? await loginAsPerson(call, host) : undefined;
  const token = person ? person.token! : await askToken(call, host);
  // The other token is for the host that was stored with it, and must not be sent to this one.
  const kept = config.host !== undefined && normalizedHost(config.host) === normalizedHost(host) ? {} : NO_TOKENS;
  const stored = options.admin ? { admin_token: token, admin_token_command: undefined } : { token, token_command: undefined };
  const path = await changeConfig(io.env, { ...kept, host, ...stored });
  const who = person ? `logged in as ${printable(person.name)} until ${person.expiresAt}; ` : "";
  await write(io.stderr, `item-vault: ${who}stored in ${path}\n`);
}

/** Pairs of options that exclude or require each other, each as a function of the given options. */
const FAULTS: readonly (readonly [words: string, isWrong: (given: Call<typeof LOGIN_OPTIONS>["options"]) => unknown])[] = [
  ["--browser and --code do not go together", ({ browser, code }) => browser && code],
  ["--admin does not go with --code", ({ admin, code }) => admin && code],
  ["--admin does not go with --vault", ({ admin, vault }) => admin && vault],
  [
    "--vault and --expires-in need --browser: for --code, choose them in the console",
    ({ browser, vault, "expires-in": lifetime }) => (vault ?? lifetime) !== undefined && !browser,
  ],
];

function checkOptions(options: Call<typeof LOGIN_OPTIONS>["options"]): void {
  const fault = FAULTS.find(([, isWrong]) => isWrong(options));
  if (fault) throw new CliError(fault[0], { exit: "usage" });
}

/** Returns a token that is typed or comes from stdin. Throws the service's refusal. */
async function askToken({ io, options }: Call<typeof LOGIN_OPTIONS>, host: string): Promise<string> {
  const token = checkToken("The token", (await askSecret(io, options.admin ? "Admin token: " : "Token: ")).trim());
  const client = connectTo(
    { host, token, timeout: timeoutOf(io.env, options), from: "that you gave" },
    { admin: options.admin ?? false },
  );
  await client.call(options.admin ? "GET /v1/admin/vaults" : "GET /v1/token");
  return token;
}

async function loginAsPerson({ io, options }: Call<typeof LOGIN_OPTIONS>, host: string): Promise<LoginToken> {
  // Without a token: nobody is authenticated yet.
  const headers = { "User-Agent": `item-vault/${VERSION}` }; // the console shows it to the person
  const client = createClient({ host, headers, fetch: createFetch(timeoutOf(io.env, options)) });
  if (options.browser) return (await import("./browser-login.ts")).loginInBrowser(io, client, host, loginRequestOf(options));
  // A code goes to this host only: the person sees which one it is before they paste.
  const { origin, href } = new URL("/console/#/terminal", host);
  await tell(io, `The code is sent to ${printable(origin)}. Get one at ${printable(href)}`);
  return redeemCode(client, { code: (await askSecret(io, "Login code: ")).trim() });
}
