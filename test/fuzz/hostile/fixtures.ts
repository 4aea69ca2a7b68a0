import { env } from "cloudflare:workers";
import { openKeyring } from "../../../src/crypto/keyring.ts";
import { type Claims, signToken } from "../../../src/crypto/token.ts";
import { writeId } from "../../../src/model/dialect.ts";
import { byteStream } from "../../support/faults.ts";
import { isLong } from "../../support/runs.ts";
import { admin, client, fetchRaw, LOGIN, makeToken, makeVault } from "../../support/service.ts";
import type { HostileRequest } from "./requests.ts";

/** The fixtures of one session: a vault with an Item, a File and tokens. Each is created when a request first names it. */

export interface Fixtures {
  /** Sends a request after replacing its symbols by values. */
  readonly send: (request: HostileRequest) => Promise<Response>;
}

/** In: a word that no error may contain, and a word that error messages may contain. */
export function createFixtures(secret: string, name: string): Fixtures {
  const created = new Map<string, Promise<string>>();
  const get = (symbol: string): Promise<string> => created.getOrInsertComputed(symbol, (one) => factories[one]!());
  const tokenFor = async (permission: "r" | "w" | "rw", dialect?: "connect") =>
    (await makeToken({ [await get("vault")]: permission }, { dialect })).token;
  const post = async (path: string, body: unknown, headers?: HeadersInit) => {
    const { body: answer } = await client(await get("rw"))("POST", path, { body, headers });
    return (answer as { id: string }).id;
  };
  const items = async () => `/v1/vaults/${await get("vault")}/items`;
  const factories: Record<string, () => Promise<string>> = {
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
    // The runtime reports a header that is not ASCII on its error output each time, so short runs do not send one.
    accent: async () => (isLong ? "é" : "e"),
    long: async () => secret.repeat(200),
    wide: async () => secret.padEnd(65_537, "x"),
    mega: async () => secret.padEnd(1_100_000, "x"),
  };
  const withValues = async (text: string) => {
    const symbols = [...new Set(text.matchAll(/<([a-z.]+)>/g).map(([, symbol]) => symbol!))].filter(
      (symbol) => symbol in factories,
    );
    const values = new Map<string, string>();
    for (const symbol of symbols) values.set(symbol, await get(symbol));
    return text.replaceAll(/<([a-z.]+)>/g, (whole, symbol: string) => values.get(symbol) ?? whole);
  };
  return {
    async send({ method, path, headers, body, framing }) {
      const allHeaders = new Headers();
      for (const [header, value] of headers) allHeaders.append(await withValues(header), await withValues(value));
      const bytes = new TextEncoder().encode(body === undefined ? "" : await withValues(body));
      if (framing === "invalid UTF-8") bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 1);
      const streamed = framing === "chunks" || framing === "aborted";
      if (body !== undefined && !streamed && framing !== "as the headers say")
        allHeaders.set("Content-Length", String(bytes.length));
      const abortError = framing === "aborted" ? new Error(`the client closed the connection: ${secret}`) : undefined;
      const sent = streamed ? byteStream(abortError ? bytes.slice(1) : bytes, abortError, 100_000) : bytes;
      const undocumented = "requests of attackers are no client's";
      const request = { headers: allHeaders, body: body === undefined ? undefined : sent, undocumented };
      return fetchRaw(method, await withValues(path), request);
    },
  };
}

async function signed(claims: Pick<Claims, "vaults" | "issuedAt" | "expiresAt">): Promise<string> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("no keyring");
  return signToken(keyring.value, { id: crypto.randomUUID(), name: "expired", dialect: "uuid", ...claims });
}
