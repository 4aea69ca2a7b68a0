import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { plural } from "../../frame/plural.ts";
import type { Wrangler } from "./wrangler.ts";

/**
 * Reads from Cloudflare's API (developers.cloudflare.com/api) with the login of wrangler: what exists, before anything is changed.
 * wrangler's own commands print most of that as tables for readers.
 */
export interface Api {
  /**
   * A GET below the account. Out: the `result` of the answer; `undefined` when its error has one of the codes `absent`. Errors: throws
   * a CliError with Cloudflare's message.
   */
  read<T>(path: string, ...absent: readonly number[]): Promise<T | undefined>;
  /** Runs a statement that only reads, in a database of the account. Out: its rows. Errors: as `read`. */
  query<T>(database: string, sql: string): Promise<readonly T[]>;
  readonly account: string;
}

const PUBLIC = "https://api.cloudflare.com/client/v4";

interface Answer {
  readonly success: boolean;
  readonly result: unknown;
  readonly errors?: readonly { readonly code: number; readonly message: string }[];
}

/** In: the account of wrangler.toml. Errors: throws a CliError without a login, and when the login reaches several accounts. */
export async function connect({ env }: Io, wrangler: Wrangler, configured: string | undefined): Promise<Api> {
  const headers = await loginOf(env, wrangler);
  const base = env["CLOUDFLARE_API_BASE_URL"] ?? PUBLIC;
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer & { readonly status: number }> => {
    const response = await fetch(base + path, { ...init, headers, redirect: "error" }).catch(() => {
      throw new CliError("Cloudflare does not answer", { exit: "unavailable" });
    });
    const answer = (await response.json().catch(() => ({ success: false }))) as Answer;
    return { ...answer, status: response.status };
  };
  const account = configured ?? env["CLOUDFLARE_ACCOUNT_ID"] ?? (await onlyAccount(ask));
  return {
    account,
    async read<T>(path: string, ...absent: readonly number[]) {
      const answer = await ask(`/accounts/${account}${path}`);
      if (answer.success) return answer.result as T;
      if (answer.errors?.some(({ code }) => absent.includes(code))) return undefined;
      throw refusal(path, answer);
    },
    async query<T>(database: string, sql: string) {
      const init = { method: "POST", body: JSON.stringify({ sql }) };
      const answer = await ask(`/accounts/${account}/d1/database/${database}/query`, init);
      if (!answer.success) throw refusal(`/d1/database/${database}/query`, answer);
      return (answer.result as { results: T[] }[])[0]?.results ?? [];
    },
  };
}

type Ask = (path: string) => Promise<Answer & { readonly status: number }>;

async function onlyAccount(ask: Ask): Promise<string> {
  const answer = await ask("/accounts");
  if (!answer.success) throw refusal("/accounts", answer);
  const accounts = answer.result as { id: string; name: string }[];
  if (accounts.length === 1) return accounts[0]!.id;
  const names = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  throw new CliError(`The login reaches ${plural(accounts.length, "account")}`, {
    exit: "usage",
    hint: `Set CLOUDFLARE_ACCOUNT_ID to one of them:\n${names}`,
  });
}

/** The headers of wrangler's login: an API token, a global key, or what `wrangler login` has stored. */
async function loginOf(env: Io["env"], wrangler: Wrangler): Promise<Record<string, string>> {
  const json = { "Content-Type": "application/json" };
  const token = env["CLOUDFLARE_API_TOKEN"];
  if (token) return { ...json, Authorization: `Bearer ${token}` };
  const printed = await wrangler.run(["auth", "token", "--json"]).catch(() => {
    throw new CliError("You are not logged in to Cloudflare", {
      exit: "denied",
      hint: "Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.",
    });
  });
  const login = JSON.parse(printed) as { token?: string; key?: string; email?: string };
  if (login.token !== undefined) return { ...json, Authorization: `Bearer ${login.token}` };
  return { ...json, "X-Auth-Key": login.key ?? "", "X-Auth-Email": login.email ?? "" };
}

/** Cloudflare's code for an account in which R2 was never switched on. */
const R2_IS_OFF = 10042;

/** By the status of the answer. */
const HINTS: Readonly<Record<number, string>> = {
  401: "The login is not valid: run `npx wrangler login`, or set another CLOUDFLARE_API_TOKEN.",
  403: "The token needs these permissions: Workers Scripts, D1, Workers R2 Storage and Queues, each Edit, and Account Settings, Read.",
};

function refusal(path: string, { status, errors = [] }: Answer & { readonly status: number }): CliError {
  const said = errors.map(({ code, message }) => `${message} [code: ${code}]`).join("; ") || `status ${status}`;
  const off = errors.some(({ code }) => code === R2_IS_OFF);
  const hint = off ? "Switch R2 on in the dashboard of Cloudflare; it asks for a means of payment." : HINTS[status];
  return new CliError(`Cloudflare refused ${path}: ${said}`, {
    exit: status < 500 ? "denied" : "unavailable",
    ...(hint ? { hint } : {}),
  });
}
