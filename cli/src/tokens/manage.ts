import { request } from "../api/answers.ts";
import { tokenIdOf } from "../api/find.ts";
import type { Token } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { timeOf } from "../output/time.ts";
import { type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import type { TOKEN_READ_OPTIONS, TOKEN_REVOKE_OPTIONS } from "./options.ts";

export const TOKENS = "/v1/admin/tokens";

/** `token list`. */
export async function list({ io, options, admin }: Call<typeof TOKEN_READ_OPTIONS>): Promise<void> {
  const tokens = await request<Token[]>(await admin(), "GET", TOKENS);
  const rows = tokens.map((token) => [token.id, nameOf(token), token.dialect ?? "", vaultsOf(token), endOf(token)]);
  await show(io, options.format, {
    json: tokens,
    table: (columns) => tableOf(["ID", "NAME", "DIALECT", "VAULTS", "EXPIRES"], rows, columns),
  });
}

/** `token get`. */
export async function get({ io, args, options, admin: connect }: Call<typeof TOKEN_READ_OPTIONS>): Promise<void> {
  const admin = await connect();
  const token = await request<Token>(admin, "GET", `${TOKENS}/${await tokenIdOf(admin, args[0]!)}`);
  await show(io, options.format, shownToken(token));
}

/** `token revoke`. */
export async function revoke({ io, args, admin: connect }: Call<typeof TOKEN_REVOKE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await tokenIdOf(admin, args[0]!);
  await admin.send("DELETE", `${TOKENS}/${id}`);
  await tell(io, `Revoked the token ${id}`);
}

/** A token whose record does not open has no name (contract 13.18). */
const nameOf = ({ name = "(does not open)" }: Token): string => name;
const endOf = ({ endedAt, expiresAt }: Token): string => (endedAt ? `ended ${timeOf(endedAt)}` : timeOf(expiresAt));

/** How many vaults, or the only one with its permission. */
function vaultsOf({ vaults = {} }: Token): string {
  const entries = Object.entries(vaults);
  return entries.length === 1 ? entries[0]!.join(" ") : String(entries.length);
}

const shownToken = (token: Token): Shown => ({
  json: token,
  table: () =>
    pairsOf([
      ["ID", token.id],
      ["Name", nameOf(token)],
      ["Dialect", token.dialect ?? ""],
      ["For", token.binding ? "service bindings" : ""],
      ...Object.entries(token.vaults ?? {}).map(([id, permission]) => ["Vault", `${id} ${permission}`] as const),
      ["Created", timeOf(token.createdAt)],
      ["Expires", timeOf(token.expiresAt)],
      ["Ended", token.endedAt ? timeOf(token.endedAt) : ""],
    ]),
});
