import type { Call } from "../frame/command.ts";
import { normalizedHost } from "../frame/connection.ts";
import { describeDuration } from "../frame/duration.ts";
import { CliError } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";
import { loadService } from "../frame/settings.ts";
import { show, tell } from "../output/format.ts";
import { exchangeToken, type IssuedByExchange } from "./exchange.ts";
import { type EXCHANGE_OPTIONS, exchangeOf } from "./table.ts";

/** `token exchange`: prints the token alone, or the variables of Connect's clients. */
export async function run({ io, options }: Call<typeof EXCHANGE_OPTIONS>): Promise<void> {
  const { format, "print-env": asVariables } = options;
  if (asVariables && format !== undefined) throw new CliError("--print-env and --format exclude each other", { exit: "usage" });
  const service = await loadService(io.env, options);
  const issued = await exchangeToken(exchangeOf(io.env, options, service));
  await mask(io, issued);
  await tell(io, `The token works for ${describeDuration(issued.expires_in * 1000)}.`);
  if (asVariables) await write(io.stdout, variablesOf(service.host, issued));
  else if (format === undefined || format === "table") await write(io.stdout, `${issued.access_token}\n`);
  else await show(io, format, { json: issued, table: () => "" });
}

/**
 * Tells the runner of GitHub Actions not to show the token in its log. The runner obeys its commands on stderr too, and stdout may go
 * into a variable or a file.
 */
async function mask({ env, stderr }: Io, { access_token }: IssuedByExchange): Promise<void> {
  if (env["GITHUB_ACTIONS"] === "true") await write(stderr, `::add-mask::${access_token}\n`);
}

const variablesOf = (host: string, { access_token }: IssuedByExchange): string =>
  [`OP_CONNECT_HOST=${quoted(normalizedHost(host))}`, `OP_CONNECT_TOKEN=${quoted(access_token)}`]
    .map((line) => `${line}\n`)
    .join("");

/** A value for `sh`. In $GITHUB_ENV, quotes would be a part of it: so one that needs none has none. */
const quoted = (value: string): string =>
  /^[\w@%+=:,./[\]-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
