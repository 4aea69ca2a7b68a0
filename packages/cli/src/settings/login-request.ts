import { type Client, ItemVaultError, type Operations } from "@item-vault/client";
import type { Values } from "../frame/command.ts";
import { secondsOf } from "../frame/duration.ts";
import { CliError, failureOf } from "../frame/failure.ts";
import type { LOGIN_OPTIONS } from "./table.ts";

/** The request of a person's login, and its result (contract 28). */

export type LoginRequest = Pick<Operations["POST /console/authorizations"]["body"], "vaults" | "expiresIn" | "admin">;
export type LoginToken = Operations["POST /v1/login/token"]["answer"];

/** Redeems a code, once: a repetition after a lost answer would be refused. Throws the client's error, with the next step. */
export async function redeemCode(
  client: Client,
  body: Operations["POST /v1/login/token"]["body"],
  signal?: AbortSignal,
): Promise<LoginToken> {
  return (await client.call("POST /v1/login/token", { body, attempts: 1, ...(signal && { signal }) }).catch(failLogin)).data;
}

/** Throws a CliError that says to begin again. If the service has no room for the login, throws the error of the service. */
function failLogin(error: unknown): never {
  if (!(error instanceof ItemVaultError) || error.status === 507) throw error;
  const { message, exit } = failureOf(error)!;
  throw new CliError(error.status === 401 ? "The login code is not valid" : message, {
    exit,
    hint: "A code works once and expires quickly. Run the same command again.",
  });
}

/** Throws a CliError. The vaults need ids, because the person's vaults are unknown before the login. */
export function loginRequestOf({ admin, vault = [], "expires-in": lifetime }: Values<typeof LOGIN_OPTIONS>): LoginRequest {
  return {
    ...(admin && { admin }),
    ...(vault.length > 0 && { vaults: Object.fromEntries(vault.map(parseVault)) as LoginRequest["vaults"] }),
    ...(lifetime !== undefined && { expiresIn: secondsOf("--expires-in", lifetime) }),
  };
}

function parseVault(text: string): [string, string] {
  const [, id, permission = "r"] = /^([0-9a-f-]{36}|[a-z2-7]{26})(?:=([lrwd]+))?$/.exec(text) ?? [];
  if (id === undefined) throw new CliError("--vault takes the id of a vault, for example ID or ID=rw", { exit: "usage" });
  return [id, permission];
}
