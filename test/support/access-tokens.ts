/** Teams of Cloudflare Access whose keys the tests and `npm run limits` hold, and the tokens of these teams. */

export type Json = Record<string, unknown>;

const encoder = new TextEncoder();
const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
export const encodeText = (text: string): string => encode(encoder.encode(text));

/** A key of a team. */
export interface Key {
  readonly kid: string;
  readonly pair: CryptoKeyPair;
  /** As the key set has it. */
  readonly jwk: Json;
}

export async function newKey(kid: string = crypto.randomUUID(), bits = 2048): Promise<Key> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: bits, publicExponent: Uint8Array.of(1, 0, 1) };
  const pair = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const { kty, n, e } = (await crypto.subtle.exportKey("jwk", pair.publicKey)) as JsonWebKey;
  return { kid, pair, jwk: { kty, n, e, kid, alg: "RS256", use: "sig" } };
}

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

/** The team whose key set a URL has. */
export const teamOf = (url: string): Team | undefined => teams.get(url);

export const keySet =
  (...keys: readonly Key[]) =>
  (): Response =>
    Response.json({ keys: keys.map(({ jwk }) => jwk), public_certs: [] });

export function newTeam(...keys: readonly Key[]): Team {
  const name = `team-${crypto.randomUUID().slice(0, 8)}`;
  const audience = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const env = { ACCESS_TEAM: name, ACCESS_AUD: audience };
  const team: Team = { issuer: `https://${name}.cloudflareaccess.com`, audience, env, answer: keySet(...keys), fetches: 0 };
  teams.set(`${team.issuer}/cdn-cgi/access/certs`, team);
  return team;
}

export const headerOf = (key: Pick<Key, "kid">): Json => ({ alg: "RS256", kid: key.kid, typ: "JWT" });

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

/** A token with this header and these claims, both JSON texts. */
export async function signText(header: string, claims: string, { pair }: Pick<Key, "pair">): Promise<string> {
  const signed = `${encodeText(header)}.${encodeText(claims)}`;
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", pair.privateKey, encoder.encode(signed));
  return `${signed}.${encode(new Uint8Array(signature))}`;
}

export const sign = (header: Json, claims: Json, key: Pick<Key, "pair">): Promise<string> =>
  signText(JSON.stringify(header), JSON.stringify(claims), key);

/** The token of somebody who has signed in to the application. */
export const tokenOf = (team: Team, key: Key, email: string, changes: Json = {}): Promise<string> =>
  sign(headerOf(key), { ...claimsOf(team, email), ...changes }, key);
