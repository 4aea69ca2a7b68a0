import type { Client } from "@item-vault/client";
import { tokenIdOf } from "../api/find.ts";
import { allActors, allVaults, namesIn, vaultsOfToken } from "../api/names.ts";
import { type AnyToken, DOES_NOT_OPEN, opened, scopeOf, scopesOf, type NameOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import type { Io } from "../frame/io.ts";
import { isTable, type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import type { TOKEN_READ_OPTIONS, TOKEN_REVOKE_OPTIONS } from "./table.ts";

/** `token list`. */
export async function list({ io, options, admin }: Call<typeof TOKEN_READ_OPTIONS>): Promise<void> {
  const connected = await admin();
  await showTokens(io, options.format, (await connected.call("GET /v1/admin/tokens")).data, () => allVaults(connected));
}

type LoadVaults = () => ReturnType<typeof allVaults>;

async function showTokens(io: Io, format: string | undefined, tokens: readonly AnyToken[], load: LoadVaults): Promise<void> {
  const vaultOf = namesIn(isTable(format) ? await load() : []);
  const rows = tokens.map((token) => [
    token.id,
    nameOf(token),
    opened(token).dialect ?? "",
    scopeOf(token, vaultOf),
    endOf(token),
  ]);
  await show(io, format, {
    json: tokens,
    table: (columns) => tableOf(["ID", "NAME", "DIALECT", "VAULTS", "EXPIRES"], rows, columns),
  });
}

/** `child list`. */
export async function listChildren({ io, options, client }: Call<typeof TOKEN_READ_OPTIONS>): Promise<void> {
  const connected = await client();
  await showTokens(io, options.format, (await connected.call("GET /v1/tokens")).data, () => vaultsOfToken(connected));
}

/** `child revoke`. */
export async function revokeChild({ io, args, client: connect }: Call<typeof TOKEN_REVOKE_OPTIONS>): Promise<void> {
  const client = await connect();
  const id = await tokenIdOf(client, args[0]!, "GET /v1/tokens");
  await client.call("DELETE /v1/tokens/{token}", { path: { token: id } });
  await tell(io, `Revoked the token ${id}`);
}

/** `token get`. */
export async function get({ io, args, options, admin: connect }: Call<typeof TOKEN_READ_OPTIONS>): Promise<void> {
  const admin = await connect();
  const path = { token: await tokenIdOf(admin, args[0]!) };
  const { data: token } = await admin.call("GET /v1/admin/tokens/{token}", { path });
  const idName = namesIn(...(isTable(options.format) ? await namesForToken(admin, token) : []));
  await show(io, options.format, shownToken(token, idName));
}

const namesForToken = async (admin: Client, token: AnyToken) => {
  const { parent } = opened(token);
  return [await allVaults(admin), ...(parent === undefined ? [] : [await allActors(admin, [parent])])];
};

/** `token revoke`. */
export async function revoke({ io, args, admin: connect }: Call<typeof TOKEN_REVOKE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await tokenIdOf(admin, args[0]!);
  await admin.call("DELETE /v1/admin/tokens/{token}", { path: { token: id } });
  await tell(io, `Revoked the token ${id}`);
}

/** Returns the name of a token. A broken token has none (contract 13.18). */
const nameOf = (token: AnyToken): string => opened(token).name ?? DOES_NOT_OPEN;
const endOf = ({ endedAt, expiresAt }: AnyToken): string => (endedAt ? `ended ${timeOf(endedAt)}` : timeOf(expiresAt));

const useOf = ({ binding, backupsOnly, adminRead, admin }: ReturnType<typeof opened<AnyToken>>): string =>
  binding ? "service bindings" : backupsOnly ? "backups" : adminRead ? "reading settings" : admin ? "administration" : "";

const shownToken = (token: AnyToken, idName: NameOf): Shown => ({
  json: token,
  table: () =>
    pairsOf([
      ["ID", token.id],
      ["Name", nameOf(token)],
      ["Dialect", opened(token).dialect ?? ""],
      ["For", useOf(opened(token))],
      ["Issues tokens", opened(token).delegate ? "yes" : ""],
      ["Issued by", idName(opened(token).parent ?? "")],
      ...scopesOf(token, idName).map((scope) => ["Vault", scope] as const),
      ["Created", timeOf(token.createdAt)],
      ["Expires", timeOf(token.expiresAt)],
      ["Ended", token.endedAt ? timeOf(token.endedAt) : ""],
    ]),
});
