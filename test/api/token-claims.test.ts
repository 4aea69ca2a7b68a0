import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { type Claims, signToken } from "../../src/crypto/token.ts";
import { freshFile } from "../support/files.ts";
import { type Client, client, freshVault, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";

/** A token is accepted only as it was issued: its row holds a hash of it (contract 8.3). */

const SECOND = 1_000;

/** The claims of a token, as `signToken` takes them. */
function claimsOf(token: string): Claims {
  const { jti, sub, iat, exp, dialect, vaults } = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(token.split(".")[1]!, { alphabet: "base64url" })),
  );
  return { id: jti, name: sub, issuedAt: iat, expiresAt: exp, dialect, vaults };
}

async function sign(claims: Claims): Promise<string> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("no keyring");
  return signToken(keyring.value, claims);
}

/** A token that is signed with the service's key, and differs from an issued one in some claims. */
const forge = async (token: string, change: Partial<Claims>): Promise<Client> =>
  client(await sign({ ...claimsOf(token), ...change }));

const summaryOf = ({ status, headers }: Reply) => [status, headers.get("Item-Vault-Error"), headers.get("Token-Expires")];
const REFUSED = [401, "unauthorized", null];

/** Requests to every kind of route, in a vault with an Item and a File. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", "/v1/token"],
  ["GET", "/v1/vaults"],
  ["GET", "/v1/activity"],
  ["GET", "<vault>"],
  ["GET", "<items>"],
  ["GET", "<item>"],
  ["GET", "<files>"],
  ["GET", "<file>"],
  ["GET", "<file>/content"],
  ["POST", "<items>", LOGIN],
  ["PUT", "<item>", { ...LOGIN, vault: {} }],
  ["PATCH", "<item>", []],
  ["PATCH", "<item>", [{ op: "replace", path: "/title", value: "Forged" }]],
  ["DELETE", "<item>"],
  ["POST", "<files>?name=f", "content"],
  ["PUT", "<file>/content", "content"],
  ["DELETE", "<file>"],
];

const FORGERIES: readonly (readonly [string, (own: string, other: string) => Partial<Claims>])[] = [
  ["a vault", (own, other) => ({ vaults: { [own]: "rw", [other]: "rw" } })],
  ["a permission", (own) => ({ vaults: { [own]: "rw" } })],
  ["the dialect", () => ({ dialect: "connect" })],
  ["a later expiry", () => ({ expiresAt: Math.floor(Date.now() / SECOND) + 365 * 86_400 })],
  ["an earlier time of issue", () => ({ issuedAt: 1 })],
  ["the name", () => ({ name: "other" })],
];

describe("a token that is signed with the service's key under the id of an issued one", () => {
  let target: Awaited<ReturnType<typeof freshFile>>;
  let reader: { id: string; token: string };
  let writer: { id: string; token: string };
  let other: string;

  beforeAll(async () => {
    target = await freshFile();
    other = await makeVault();
    reader = await makeToken({ [target.vault]: "r" });
    writer = await makeToken({ [target.vault]: "rw" });
  });

  const send = (call: Client, [method, path, body]: (typeof REQUESTS)[number]): Promise<Reply> => {
    const vault = `/v1/vaults/${target.vault}`;
    const names = { vault, items: `${vault}/items`, item: target.path, files: target.files, file: target.one };
    return call(
      method,
      path.replace(/<(\w+)>/, (_, name: keyof typeof names) => names[name]),
      {
        body: body && typeof body === "object" && "vault" in body ? { ...body, vault: { id: target.vault } } : body,
      },
    );
  };

  it.each(FORGERIES)("and differs in %s is a 401 on every route", async (what, change) => {
    const issued = what === "a permission" ? reader : writer;
    const forged = await forge(issued.token, change(target.vault, other));
    for (const request of REQUESTS) {
      expect([request.join(" "), ...summaryOf(await send(forged, request))]).toEqual([request.join(" "), ...REFUSED]);
    }
    expect((await client(writer.token)("GET", target.path)).body).toMatchObject({ title: LOGIN.title, version: 2 });
  });

  it("is refused in a group with writes of the issued token, which take effect", async () => {
    const { items, vault, call } = await freshVault();
    const issued = await makeToken({ [vault]: "w" });
    const forged = await forge(issued.token, { vaults: { [vault]: "rw" } });
    const senders = [client(issued.token), forged, call, forged, client(issued.token)];
    for (let round = 0; round < 3; round++) {
      const replies = await Promise.all(senders.map((sender) => sender("POST", items, { body: LOGIN })));
      expect(replies.map(({ status }) => status)).toEqual([200, 401, 200, 401, 200]);
    }
    expect((await call("GET", items)).body).toHaveLength(9);
  });

  it("under the id of the admin, who has no row, is a 401 on every route", async () => {
    const forged = await forge(writer.token, { id: "admin" });
    for (const request of REQUESTS) {
      expect([request.join(" "), ...summaryOf(await send(forged, request))]).toEqual([request.join(" "), ...REFUSED]);
    }
    expect((await client(writer.token)("GET", target.path)).body).toMatchObject({ title: LOGIN.title, version: 2 });
  });

  it("in a vault that it does not name is a 401 also for a write that it may not make", async () => {
    const forged = await forge(writer.token, { vaults: { [other]: "rw" } });
    expect(summaryOf(await forged("POST", `/v1/vaults/${other}/items`, { body: LOGIN }))).toEqual(REFUSED);
    expect(summaryOf(await forged("GET", `/v1/vaults/${other}/items`))).toEqual(REFUSED);
  });
});
