import { canRepeat, createClient, ItemVaultError, retryDelayOf } from "@item-vault/client";
import { normalizedHost } from "../frame/connection.ts";
import { CliError } from "../frame/failure.ts";
import { createFetch } from "../frame/fetch.ts";
import type { Service } from "../frame/settings.ts";
import { attributesOf, foreign, limited } from "./limited.ts";
import { sourceOf } from "./sources.ts";
import type { Source, Workload } from "./workload.ts";

/** Exchanges the token of a workload for one of the service (RFC 8693). */

export interface Exchange {
  readonly service: Service;
  readonly workload: Workload;
  /** The id of the rule that grants the token; `undefined`: the only one that matches. */
  readonly rule: string | undefined;
}

/** The answer of the service (RFC 8693 section 2.2.1). */
export interface IssuedByExchange {
  readonly access_token: string;
  readonly issued_token_type: string;
  readonly token_type: string;
  /** Seconds. */
  readonly expires_in: number;
}

interface Policy {
  /** Number of attempts. Default 4, as for every request of the command line. */
  readonly attempts?: number;
  readonly signal?: AbortSignal;
}

const ATTEMPTS = 4;

/**
 * Gets the token of the workload and exchanges it. Each attempt gets a new token: the service accepts a job's token only once, and may have
 * accepted it when its answer was lost. Throws a CliError, an ItemVaultError of the service, or the reason of an aborted `signal`.
 */
export async function exchangeToken(exchange: Exchange, { attempts = ATTEMPTS, signal }: Policy = {}): Promise<IssuedByExchange> {
  const source = await sourceOf(exchange.workload);
  for (let failures = 0; ; failures++) {
    let { explain } = source;
    try {
      const token = await source.obtain(exchange.workload, signal);
      explain = explainFor(exchange, token);
      return await sendToken(exchange, { token, type: source.type }, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ItemVaultError)) throw error;
      if (failures + 1 >= attempts || !canRepeat(error)) throw explain?.(error) ?? error;
      await pause(retryDelayOf(failures, error), signal);
    }
  }
}

/** Waits. It ends early when the signal aborts. */
const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });

interface Subject {
  readonly token: string;
  readonly type: Source["type"];
}

/** Sends the request (RFC 8693 section 2.1). It has no `Authorization`, because the token of the workload authenticates it. */
async function sendToken({ service, rule }: Exchange, { token, type }: Subject, signal?: AbortSignal): Promise<IssuedByExchange> {
  const client = createClient({ host: service.host, fetch: limited(createFetch(service.timeout)) });
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: token,
    subject_token_type: type,
    ...(rule !== undefined && { rule }),
  }).toString();
  // The key of a repetition is left out: each attempt is another request, with another token.
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": undefined };
  const answer = await client.send("POST", "/v1/token-exchange", { body, headers, signal, attempts: 1 });
  return parseIssued(await attributesOf(answer, "the service"), service);
}

/** A bearer token (RFC 6750 section 2.1): neither a shell nor a CI runner interprets any of its characters. */
const BEARER_TOKEN = /^[\w.~+/-]{1,16384}=*$/;

function parseIssued(answer: Readonly<Record<string, unknown>>, { host }: Service): IssuedByExchange {
  const { access_token, issued_token_type, token_type, expires_in } = answer;
  const isToken = typeof access_token === "string" && BEARER_TOKEN.test(access_token);
  const lasts = typeof expires_in === "number" && Number.isFinite(expires_in) && expires_in > 0;
  const isBearer = typeof token_type === "string" && token_type.toLowerCase() === "bearer"; // RFC 6749 section 5.1: in any case
  if (isToken && lasts && isBearer && typeof issued_token_type === "string")
    return { access_token, issued_token_type, token_type, expires_in };
  throw foreign(`What answers at ${new URL(normalizedHost(host)).origin} is no Item Vault: it gives no token`);
}

/** Refusals in which the words for other commands would mislead. */
const REFUSALS: Readonly<Record<number, (audience: string) => CliError>> = {
  401: (audience) =>
    new CliError("The service refuses the token of this workload", {
      exit: "denied",
      hint: [
        `No rule matches it, several do, it has ended or was used already, or it is for another audience than ${audience}.`,
        "The administrator finds the reason in `item-vault activity --admin`, and what rules ask for in `item-vault rule test`.",
      ].join("\n"),
    }),
  404: () => new CliError("The service exchanges no tokens: it is older than this command line", { exit: "notFound" }),
};

/** Explains a failure of the service to the user. A party in between may repeat the request in its words, which are then left out. */
const explainFor =
  ({ workload }: Exchange, token: string) =>
  (error: ItemVaultError): CliError | ItemVaultError => {
    const { kind, status, message } = error;
    if (Object.hasOwn(REFUSALS, status)) return REFUSALS[status]!(workload.audience);
    const repeatsToken = token.split(".").some((part) => message.includes(part));
    return repeatsToken ? new ItemVaultError(`The service answered ${status}`, { kind, status }) : error;
  };
