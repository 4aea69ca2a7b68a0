import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { plural } from "../../frame/printable.ts";
import type { Wrangler } from "./wrangler.ts";

/**
 * Reads from Cloudflare's API (developers.cloudflare.com/api): what exists. wrangler's own commands print most of that as tables for
 * readers.
 */
export interface Api {
  /**
   * A GET below the account. Out: the `result` of the answer; `undefined` when its error has one of the codes `absent`. Errors: throws
   * a CliError with Cloudflare's message.
   */
  read<T>(path: string, ...absent: readonly number[]): Promise<T | undefined>;
  /** The same for an answer that is not JSON. */
  download(path: string): Promise<Response>;
  /** Runs a statement that only reads, in a database of the account. Out: its rows. Errors: as `read`. */
  query<T>(database: string, sql: string): Promise<readonly T[]>;
  readonly account: string;
}

const PUBLIC = "https://api.cloudflare.com/client/v4";

/** With what the API is asked. */
export interface Login {
  readonly headers: Readonly<Record<string, string>>;
  /** What to do when the API refuses it, by the status of the answer. */
  readonly hints: Readonly<Record<number, string>>;
}

interface Answer {
  readonly success: boolean;
  readonly result: unknown;
  readonly errors?: readonly { readonly code: number; readonly message: string }[];
}

/** In: the account of wrangler.toml. Errors: throws a CliError when the login reaches several accounts. */
export async function connect({ env }: Io, { headers, hints }: Login, configured: string | undefined): Promise<Api> {
  const base = env["CLOUDFLARE_API_BASE_URL"] ?? PUBLIC;
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(base + path, {
      ...init,
      headers: { ...headers, "Content-Type": "application/json" },
      redirect: "error",
    }).catch(() => {
      throw new CliError("Cloudflare does not answer", { exit: "unavailable" });
    });
  const ask = async (path: string, init?: RequestInit): Promise<unknown> => resultOf(path, await send(path, init), hints);
  const account = configured ?? env["CLOUDFLARE_ACCOUNT_ID"] ?? (await onlyAccount(ask));
  return {
    account,
    async read<T>(path: string, ...absent: readonly number[]) {
      return (await resultOf(path, await send(`/accounts/${account}${path}`), hints, absent)) as T | undefined;
    },
    async download(path: string) {
      const response = await send(`/accounts/${account}${path}`);
      if (!response.ok) await resultOf(path, response, hints);
      return response;
    },
    async query<T>(database: string, sql: string) {
      const path = `/d1/database/${database}/query`;
      const init = { method: "POST", body: JSON.stringify({ sql }) };
      const results = await resultOf(path, await send(`/accounts/${account}${path}`, init), hints);
      return (results as { results: T[] }[])[0]?.results ?? [];
    },
  };
}

/** The result of an answer; `undefined` when its error has one of the codes `absent`. Errors: throws a CliError. */
async function resultOf(
  path: string,
  response: Response,
  hints: Login["hints"],
  absent: readonly number[] = [],
): Promise<unknown> {
  const answer = (await response.json().catch(() => ({ success: false }))) as Answer;
  if (answer.success) return answer.result;
  if (answer.errors?.some(({ code }) => absent.includes(code))) return undefined;
  throw refusal(path, response.status, answer, hints);
}

async function onlyAccount(ask: (path: string) => Promise<unknown>): Promise<string> {
  const accounts = (await ask("/accounts")) as { id: string; name: string }[];
  if (accounts.length === 1) return accounts[0]!.id;
  const names = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  throw new CliError(`Your login has access to ${plural(accounts.length, "account")}`, {
    exit: "usage",
    hint: `Set CLOUDFLARE_ACCOUNT_ID to one of them:\n${names}`,
  });
}

/** The login of wrangler: an API token, a global key, or what `wrangler login` has stored. Errors: throws a CliError without one. */
export async function wranglerLogin({ env }: Io, wrangler: Wrangler): Promise<Login> {
  const token = env["CLOUDFLARE_API_TOKEN"]?.trim();
  if (token) return { headers: bearer(token), hints: WRANGLER_HINTS };
  const printed = await wrangler.run(["auth", "token", "--json"]).catch(() => {
    throw new CliError("You are not logged in to Cloudflare", {
      exit: "denied",
      hint: "Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.",
    });
  });
  const login = JSON.parse(printed) as { token?: string; key?: string; email?: string };
  const headers =
    login.token === undefined ? { "X-Auth-Key": login.key ?? "", "X-Auth-Email": login.email ?? "" } : bearer(login.token);
  return { headers, hints: WRANGLER_HINTS };
}

/** The header of an API token. */
export const bearer = (token: string): Login["headers"] => ({ Authorization: `Bearer ${token}` });

const WRANGLER_HINTS: Login["hints"] = {
  401: "The login is not valid: run `npx wrangler login`, or set another CLOUDFLARE_API_TOKEN.",
  403: "The token needs these permissions: Workers Scripts, D1, Workers R2 Storage and Queues, each Edit, and Account Settings, Read.",
};

/** Cloudflare's code for an account in which R2 was never switched on. */
const R2_IS_OFF = 10042;

function refusal(path: string, status: number, { errors = [] }: Answer, hints: Login["hints"]): CliError {
  const said = errors.map(({ code, message }) => `${message} [code: ${code}]`).join("; ") || `status ${status}`;
  const off = errors.some(({ code }) => code === R2_IS_OFF);
  const hint = off ? "Switch R2 on in the dashboard of Cloudflare; it asks for a means of payment." : hints[status];
  return new CliError(`Cloudflare refused ${path}: ${said}`, {
    exit: status < 500 ? "denied" : "unavailable",
    ...(hint ? { hint } : {}),
  });
}
