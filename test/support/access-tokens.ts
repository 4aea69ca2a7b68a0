import { headerOf, type Json, newSigningKey, type SigningKey, signToken } from "./workload-tokens.ts";

/** Teams of Cloudflare Access whose keys the tests and `npm run limits` hold, and the tokens of these teams. */

/** A key of a team: Access signs with RS256. */
export const newKey = (): Promise<SigningKey> => newSigningKey("RS256");

export const now = (): number => Math.floor(Date.now() / 1000);

/** A team with an application. */
export interface Team {
  readonly issuer: string;
  readonly audience: string;
  readonly env: Partial<Env>;
  /** What the key set is answered with; a function may fail. */
  answer: () => Response | Promise<Response>;
  fetches: number;
}

const teams = new Map<string, Team>();

export const teamOf = (url: string): Team | undefined => teams.get(url);

export const keySet =
  (...keys: readonly SigningKey[]) =>
  (): Response =>
    Response.json({ keys: keys.map(({ jwk }) => jwk), public_certs: [] });

export function newTeam(...keys: readonly SigningKey[]): Team {
  const name = `team-${crypto.randomUUID().slice(0, 8)}`;
  const audience = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const env = { ACCESS_TEAM: name, ACCESS_AUD: audience };
  const team: Team = { issuer: `https://${name}.cloudflareaccess.com`, audience, env, answer: keySet(...keys), fetches: 0 };
  teams.set(`${team.issuer}/cdn-cgi/access/certs`, team);
  return team;
}

/** The claims of a token as Access makes it. */
export const claimsOf = ({ issuer, audience }: Pick<Team, "issuer" | "audience">, email: string): Json => ({
  aud: [audience],
  email,
  exp: now() + 3600,
  iat: now(),
  nbf: now(),
  iss: issuer,
  type: "app",
  identity_nonce: "6ei69kawdKzMIAPF",
  sub: `the account of ${email}`,
  country: "US",
});

/** The token of somebody who has signed in to the application. */
export const tokenOf = (team: Team, key: SigningKey, email: string, changes: Json = {}): Promise<string> =>
  signToken(headerOf(key), { ...claimsOf(team, email), ...changes }, key);
