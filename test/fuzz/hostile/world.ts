import { env } from "cloudflare:workers";
import { openKeyring } from "../../../src/crypto/keyring.ts";
import { type Claims, signToken } from "../../../src/crypto/token.ts";
import { writeId } from "../../../src/model/dialect.ts";
import { byteStream } from "../../support/faults.ts";
import type { HostileRequest } from "./requests.ts";
import { isLong } from "../../support/runs.ts";
import { admin, client, fetchRaw, LOGIN, makeToken, makeVault } from "../../support/service.ts";

/** Where a hostile client is: a vault of its own, with an Item, a File and tokens, each made when a request names it. */

export interface World {
  /** Sends a request, its symbols replaced. */
  readonly send: (request: HostileRequest) => Promise<Response>;
}

/** In: the words that are to turn up nowhere, and in no more than messages. */
export function newWorld(secret: string, name: string): World {
  const made = new Map<string, Promise<string>>();
  const get = (symbol: string): Promise<string> => made.getOrInsertComputed(symbol, (one) => makers[one]!());
  const tokenFor = async (permission: "r" | "w" | "rw", dialect?: "connect") =>
    (await makeToken({ [await get("vault")]: permission }, { dialect })).token;
  const post = async (path: string, body: unknown, headers?: HeadersInit) => {
    const { body: answer } = await client(await get("rw"))("POST", path, { body, headers });
    return (answer as { id: string }).id;
  };
  const items = async () => `/v1/vaults/${await get("vault")}/items`;
  const makers: Record<string, () => Promise<string>> = {
    vault: () => makeVault(secret),
    "vault.short": async () => writeId(await get("vault"), "connect"),
    "vault.upper": async () => (await get("vault")).toUpperCase(),
    "vault.escaped": async () => (await get("vault")).replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`),
    item: async () =>
      post(await items(), {
        ...LOGIN,
        tags: ["b"],
        fields: [
          { id: "1", value: secret },
          { purpose: "PASSWORD", value: secret },
        ],
      }),
    file: async () =>
      post(`${await items()}/${await get("item")}/files?name=${secret}`, secret, { "Content-Length": String(secret.length) }),
    foreign: async () => makeVault(),
    unknown: async () => crypto.randomUUID(),
    "unknown.short": async () => writeId(crypto.randomUUID(), "connect"),
    rw: () => tokenFor("rw"),
    connect: () => tokenFor("rw", "connect"),
    r: () => tokenFor("r"),
    w: () => tokenFor("w"),
    outsider: async () => (await makeToken({ [await get("foreign")]: "rw" })).token,
    revoked: async () => {
      const { id, token } = await makeToken({ [await get("vault")]: "rw" });
      await admin("DELETE", `/v1/admin/tokens/${id}`);
      return token;
    },
    expired: async () => signed({ vaults: { [await get("vault")]: "rw" }, issuedAt: 0, expiresAt: 1 }),
    spare: async () => (await makeToken({})).id,
    admin: async () => env.ADMIN_TOKEN,
    secret: async () => secret,
    name: async () => name,
    endless: async () => name.repeat(200),
    // The runtime complains of it on its own error output each time.
    accent: async () => (isLong ? "é" : "e"),
    long: async () => secret.repeat(200),
    wide: async () => secret.padEnd(65_537, "x"),
    mega: async () => secret.padEnd(1_100_000, "x"),
  };
  const filled = async (text: string) => {
    const symbols = [...new Set(text.matchAll(/<([a-z.]+)>/g).map(([, symbol]) => symbol!))].filter((symbol) => symbol in makers);
    const values = new Map<string, string>();
    for (const symbol of symbols) values.set(symbol, await get(symbol));
    return text.replaceAll(/<([a-z.]+)>/g, (whole, symbol: string) => values.get(symbol) ?? whole);
  };
  return {
    async send({ method, path, headers, body, framing }) {
      const given = new Headers();
      for (const [header, value] of headers) given.append(await filled(header), await filled(value));
      const bytes = new TextEncoder().encode(body === undefined ? "" : await filled(body));
      if (framing === "bytes") bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 1);
      const streamed = framing === "parts" || framing === "broken";
      if (body !== undefined && !streamed && framing !== "lie") given.set("Content-Length", String(bytes.length));
      const broken = framing === "broken" ? new Error(`the client went away: ${secret}`) : undefined;
      const sent = streamed ? byteStream(broken ? bytes.slice(1) : bytes, broken, 100_000) : bytes;
      return fetchRaw(method, await filled(path), { headers: given, body: body === undefined ? undefined : sent });
    },
  };
}

async function signed(claims: Pick<Claims, "vaults" | "issuedAt" | "expiresAt">): Promise<string> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("no keyring");
  return signToken(keyring.value, { id: crypto.randomUUID(), name: "expired", dialect: "uuid", ...claims });
}
