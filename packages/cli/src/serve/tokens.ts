import type { Call } from "../frame/command.ts";
import { connectTo } from "../frame/connect.ts";
import { CliError } from "../frame/failure.ts";
import { loadService, type Service } from "../frame/settings.ts";
import { exchangeToken } from "../workload/exchange.ts";
import { exchangeOf, WORKLOAD_OPTIONS } from "../workload/table.ts";
import { momentNow } from "./copy.ts";
import type { Credential } from "./credentials.ts";
import type { SERVE_OPTIONS } from "./table.ts";

/** The way in which serve gets its first token, and later ones. */

export interface Tokens {
  readonly service: Service;
  /** True if the token comes from an exchange, and has to be renewed. */
  readonly isExchanged: boolean;
  /** Gets a token. `attempts`: the maximum number of exchanges, for a token by exchange. */
  readonly issue: (attempts?: number, signal?: AbortSignal) => Promise<Credential>;
}

/**
 * Opens the tokens. `wait` is in seconds: a request waits so long for events. Throws a CliError for options that exclude each other, and
 * without a host or a token.
 */
export async function openTokens(call: Call<typeof SERVE_OPTIONS>, wait: number): Promise<Tokens> {
  const { io, options } = call;
  checkOptions(options);
  const clientOf = ({ host, timeout }: Service, token: string) => connectTo({ host, token, timeout: timeout + wait * 1000 });
  if (!options.exchange) {
    const { token, ...service } = await call.access();
    return { service, isExchanged: false, issue: async () => ({ token, client: clientOf(service, token) }) };
  }
  const service = await loadService(io.env, options);
  const exchange = exchangeOf(io.env, options, service);
  return {
    service,
    isExchanged: true,
    async issue(attempts, signal) {
      const began = momentNow();
      const { access_token: token, expires_in: seconds } = await exchangeToken(exchange, {
        ...(attempts !== undefined && { attempts }),
        ...(signal && { signal }),
      });
      return { token, client: clientOf(service, token), life: { began, milliseconds: seconds * 1000 } };
    },
  };
}

const OF_EXCHANGE = Object.keys(WORKLOAD_OPTIONS) as (keyof typeof WORKLOAD_OPTIONS)[];

function checkOptions(options: Call<typeof SERVE_OPTIONS>["options"]): void {
  const needing = OF_EXCHANGE.find((name) => options[name] !== undefined);
  if (!options.exchange && needing !== undefined) throw new CliError(`--${needing} needs --exchange`, { exit: "usage" });
  if (!options.exchange || options["client-token-file"] !== undefined) return;
  throw new CliError("--exchange needs --client-token-file", {
    exit: "usage",
    hint: "The token changes every few minutes: local clients present the secret of that file instead.",
  });
}
