import type { Presented, Schemas } from "../../api/answer.ts";
import { DAY } from "../../model/time.ts";
import type { Settings } from "../../settings.ts";
import { actingToken, type Grants, type Lifetime } from "../../store/tokens/session-rows.ts";
import { presentTime } from "./time.ts";
import { presentToken } from "./tokens.ts";

/**
 * A session of the console on the wire (contract 24.4). The token is as `GET /v1/token` answers it. The settings are those that the texts
 * of the console name.
 */
export const presentSession = (
  session: Grants & Pick<Lifetime, "expiresAt">,
  { deletedRetention, versionsKept, access }: Settings,
): Presented<Schemas.Session> => {
  const token = actingToken(session);
  return {
    expiresAt: presentTime(session.expiresAt),
    admin: session.admin !== undefined,
    token: token && presentToken(token, token.dialect),
    person: token?.kind === "person" ? { id: token.id, email: token.name } : undefined,
    settings: { deletedRetentionDays: deletedRetention / DAY, versionsKept, access: access !== undefined },
  };
};
