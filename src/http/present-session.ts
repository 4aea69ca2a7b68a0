import type { Grants, Lifetime } from "../store/session-rows.ts";
import { presentTime } from "./present.ts";
import { presentToken } from "./present-token.ts";

/** A session of the console on the wire (contract 24). The token is as `GET /v1/token` answers it. */
export const presentSession = ({ expiresAt, admin, token }: Grants & Pick<Lifetime, "expiresAt">): object => ({
  expiresAt: presentTime(expiresAt),
  admin: admin !== undefined,
  token: token && presentToken(token, token.dialect),
  person: token?.person && { id: token.id, email: token.name },
});
