import type { Client } from "@item-vault/client";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { MissingToken } from "../frame/settings.ts";
import { tell } from "../output/format.ts";

/** `console`: prints a link that signs in to the web console, with a one-time code for each token that is set (contract 24.9). */
export async function run({ io, access, client, admin }: Call): Promise<void> {
  const operator = await ifSet(admin);
  // Without any token this throws the error that says how to set one.
  const own = operator ? await ifSet(client) : await client();
  const codes = [
    ...(own ? [(await own.call("POST /v1/sign-in-codes")).data.code] : []),
    ...(operator ? [(await operator.call("POST /v1/admin/sign-in-codes")).data.code] : []),
  ];
  const { host } = await access(own ? "token" : "admin_token");
  await tell(io, "The link works once, within 5 minutes. Run `item-vault console` for another.");
  await write(io.stdout, `${new URL(host).origin}/console/#sign-in=${printable(codes.join("."))}\n`);
}

/** Returns undefined if the token is not set for this host. */
async function ifSet(connect: () => Promise<Client>): Promise<Client | undefined> {
  try {
    return await connect();
  } catch (error) {
    if (error instanceof MissingToken) return undefined;
    throw error;
  }
}
