import { usableKeys, type WorkloadAlgorithm, type WorkloadKey } from "../../src/model/workload-keys.ts";

/** Keys of issuers of workload tokens, tokens that these sign, and the form that exchanges one. The benchmark uses them too. */

export type Json = Record<string, unknown>;

const encoder = new TextEncoder();
export const encode = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
export const encodeText = (text: string): string => encode(encoder.encode(text));

const KINDS = {
  RS256: {
    generate: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
    sign: "RSASSA-PKCS1-v1_5",
  },
  ES256: { generate: { name: "ECDSA", namedCurve: "P-256" }, sign: { name: "ECDSA", hash: "SHA-256" } },
};

export const ALGORITHMS = Object.keys(KINDS) as WorkloadAlgorithm[];

/** A key of an issuer. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: WorkloadAlgorithm;
  readonly pair: CryptoKeyPair;
  /** As a JWK set has it. */
  readonly jwk: Json;
  /** As the service keeps it. */
  readonly usable: WorkloadKey;
}

export async function newSigningKey(alg: WorkloadAlgorithm, kid: string = crypto.randomUUID()): Promise<SigningKey> {
  const pair = (await crypto.subtle.generateKey(KINDS[alg].generate, true, ["sign", "verify"])) as CryptoKeyPair;
  const { kty, n, e, crv, x, y } = (await crypto.subtle.exportKey("jwk", pair.publicKey)) as JsonWebKey;
  const jwk = JSON.parse(JSON.stringify({ kty, n, e, crv, x, y, kid, alg, use: "sig" })) as Json;
  const [usable] = usableKeys([jwk]);
  if (usable === undefined) throw new Error("The key is not usable");
  return { kid, alg, pair, jwk, usable };
}

/** A token of these parts, which are texts or bytes as they are. */
export async function signParts(header: string, payload: string | Uint8Array, key: SigningKey): Promise<string> {
  const signed = `${encodeText(header)}.${typeof payload === "string" ? encodeText(payload) : encode(payload)}`;
  const signature = await crypto.subtle.sign(KINDS[key.alg].sign, key.pair.privateKey, encoder.encode(signed));
  return `${signed}.${encode(new Uint8Array(signature))}`;
}

export const headerOf = ({ alg, kid }: SigningKey): Json => ({ alg, kid, typ: "JWT" });

export const signToken = (header: Json, claims: Json, key: SigningKey): Promise<string> =>
  signParts(JSON.stringify(header), JSON.stringify(claims), key);

/** The origin of the tests' requests, which is the audience. */
export const AUDIENCE = "https://vault.test";

/** A token of a workload that is valid now. In: its issuer; claims that replace those. */
export const tokenOf = (iss: string, key: SigningKey, claims: Json = {}): Promise<string> => {
  const now = Math.floor(Date.now() / 1000);
  return signToken(
    headerOf(key),
    { iss, aud: AUDIENCE, iat: now, exp: now + 300, jti: crypto.randomUUID(), job: "deploy", ...claims },
    key,
  );
};

const FORM = {
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
};

/** The form that exchanges a workload token. In: it, and other parameters. */
export const formOf = (token: string, form: Readonly<Record<string, string>> = {}): string =>
  new URLSearchParams({ ...FORM, subject_token: token, ...form }).toString();
