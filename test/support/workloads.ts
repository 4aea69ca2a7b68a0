import { type Issuer, newIssuer } from "./issuers.ts";
import { admin, type Reply, type Request_, send, withEachDenialLogged } from "./service.ts";
import { formOf, type Json, newSigningKey, type SigningKey, tokenOf } from "./workload-tokens.ts";

/** Workload identity through the front door. */

const issuers: string[] = [];

/** Adds an issuer. Out: the answer's body. */
export async function makeIssuer(attributes: object = {}): Promise<{ id: string; issuer: string }> {
  const url = `https://${crypto.randomUUID()}.example.com`;
  const body = await add("issuers", { name: "issuer", issuer: url, ...attributes });
  issuers.push(body.id);
  return body;
}

/** Deletes the issuers that the file has added, because there may be only some. */
export async function deleteIssuers(): Promise<void> {
  for (const id of issuers.splice(0)) await admin("DELETE", `/v1/admin/issuers/${id}`);
}

export const makeRule = (issuer: string, attributes: object): Promise<{ id: string }> =>
  add("rules", { issuer, claims: { job: "deploy" }, vaults: {}, ...attributes });

/** Adds an issuer or a rule. Errors: throws when the service refuses it, because the exchange would only say that a token is wrong. */
async function add(kind: "issuers" | "rules", attributes: object) {
  const { status, body } = await admin("POST", `/v1/admin/${kind}`, { body: attributes });
  if (status !== 200) throw new Error(`POST /v1/admin/${kind} was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A workload: an issuer that runs, its key, and its id in the service. */
export interface Workload {
  readonly server: Issuer;
  readonly key: SigningKey;
  readonly issuer: string;
  /** A token of the workload. */
  readonly token: (claims?: Json, key?: SigningKey) => Promise<string>;
}

export async function makeWorkload(attributes: object = {}): Promise<Workload> {
  const key = await newSigningKey("ES256");
  const server = await newIssuer([key]);
  const { id } = await makeIssuer({ issuer: server.url, ...attributes });
  return { server, key, issuer: id, token: (claims = {}, by = key) => tokenOf(server.url, by, claims) };
}

/** Exchanges a workload token; each refusal is logged. In: the token, other parameters of the form, and the rest of the request. */
export const exchange = (token: string, form: Readonly<Record<string, string>> = {}, request: Request_ = {}): Promise<Reply> => {
  const body = formOf(token, form);
  const headers = { "Content-Type": "application/x-www-form-urlencoded", ...(request.headers as Record<string, string>) };
  return withEachDenialLogged(send)("POST", "/v1/token-exchange", { ...request, headers, body });
};
