import { afterAll, beforeAll, vi } from "vitest";
import { newKey, newTeam, type Team, teamOf, tokenOf } from "./access-tokens.ts";
import { browser } from "./console.ts";
import { admin, type Permission, type Reply } from "./service.ts";
import type { SigningKey } from "./workload-tokens.ts";

/** Signs in by teams of Cloudflare Access (access-tokens.ts). `fetch` of the isolate serves their key sets. */

export * from "./access-tokens.ts";

/** Serves the key sets of teams while the tests of a file run. Every other request of the isolate is sent. */
export function serveTeams(): void {
  beforeAll(() => {
    const send = globalThis.fetch;
    vi.stubGlobal("fetch", async (...request: Parameters<typeof fetch>) => {
      const [input] = request;
      const team = teamOf(input instanceof Request ? input.url : input.toString());
      if (!team) return send(...request);
      team.fetches++;
      return team.answer();
    });
  });
  afterAll(() => void vi.unstubAllGlobals());
}

/** Sends the request of the console to which Access has added its token. */
export const signInByAccess = (team: Pick<Team, "env">, token: string, session?: string): Promise<Reply> =>
  browser(session)("POST", "/console/session", { body: {}, headers: { "Cf-Access-Jwt-Assertion": token }, env: team.env });

/** A team for the tests of a file. Out: signs in somebody with its Access. In: the email, and bindings that replace the Worker's own. */
export function serveTeam(): (email: string, bindings?: Partial<Env>) => Promise<Reply> {
  serveTeams();
  let team: Team, key: SigningKey;
  beforeAll(async () => {
    key = await newKey();
    team = newTeam(key);
  });
  return async (email, bindings) => signInByAccess({ env: { ...team.env, ...bindings } }, await tokenOf(team, key, email));
}

export const newEmail = (): string => `${crypto.randomUUID()}@example.com`;

export async function addPerson(vaults: Record<string, Permission> = {}): Promise<{ id: string; email: string }> {
  const { status, body } = await admin("POST", "/v1/admin/people", { body: { email: newEmail(), vaults } });
  if (status !== 200) throw new Error(`the person was not added: ${status}`);
  return body;
}
