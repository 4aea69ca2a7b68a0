import { parseConsoleSecret } from "../../../src/crypto/console-secret.ts";
import { signToken } from "../../../src/crypto/token.ts";
import { deleteSession } from "../../../src/store/tokens/sessions.ts";
import { CONSOLE, cookieOf, sessionsOf, storeOf } from "./sessions.ts";
import { ADMIN_TOKENS, type Sent, type World } from "./world.ts";

/**
 * The kinds of requests that are refused because of who sends them: each is sent to every route, once and as a flood from one address.
 * test/promises/refused-requests.test.ts and `npm run limits` bound what they cost.
 */

/** What a request has besides its route: a flood takes them in turn. */
export type Credential = Pick<Sent, "headers" | "body">;

export interface Refusal {
  readonly name: string;
  /** Out: as many as the flood has ids. In: a vault that the tokens may read and write. */
  readonly prepare: (world: World, vault: string) => Promise<readonly Credential[]>;
  /** The most D1 calls of a flood. */
  readonly calls: number;
  /** The variables of a service that has such requests. */
  readonly env?: Partial<Env>;
}

const bearer = (token: string): Credential => ({ headers: { Authorization: `Bearer ${token}` } });

const cookie = (text: string): Credential => ({ headers: cookieOf(text) });

const issue = ({ ask, env }: World, vault: string): Promise<{ id: string; token: string }> =>
  ask("POST", ADMIN_TOKENS, env.ADMIN_TOKEN, { name: "refused", vaults: { [vault]: "rwd" } });

const revoke = ({ ask, env }: World, id: string): Promise<void> => ask("DELETE", `${ADMIN_TOKENS}/${id}`, env.ADMIN_TOKEN);

async function revokedToken(world: World, vault: string): Promise<string> {
  const { id, token } = await issue(world, vault);
  await revoke(world, id);
  return token;
}

/** So many cookies of one token that was revoked since. */
async function cookiesOfRevoked(world: World, vault: string, count: number): Promise<Credential[]> {
  const { id, token } = await issue(world, vault);
  const made = await sessionsOf(world, token, count);
  await revoke(world, id);
  return made.map(cookie);
}

async function endedSession(world: World, vault: string): Promise<Credential> {
  const store = await storeOf(world);
  const [text] = await sessionsOf(world, (await issue(world, vault)).token, 1);
  await deleteSession(store, (await parseConsoleSecret(store.keyring, "session", text!))!);
  return cookie(text!);
}

/** A token as this service signs it, of yesterday. */
async function expiredToken(world: World, vault: string): Promise<string> {
  const { keyring, now } = await storeOf(world);
  const expiresAt = Math.floor(now / 1_000) - 60;
  const claims = { id: crypto.randomUUID(), name: "ended", dialect: "uuid", vaults: { [vault]: "rwd" } } as const;
  return signToken(keyring, { ...claims, issuedAt: expiresAt - 86_400, expiresAt });
}

/** A cookie as if this service had made it. */
const INVENTED = "A".repeat(43);

/** Limits of 10 s (contract 12.1): of failed authentications of an address, and of sign-ins of a person. */
const [FAILURES, SIGN_INS] = [50, 40];

/** The look-ups of a flood that D1 has to answer: one for each id in a minute, and one that explains failures. */
const lookUps = (ids: number): number => ids + 1;

/** A team of Cloudflare Access whose key set the caller serves. */
export interface Access {
  readonly env: Partial<Env>;
  /** In: an email. Out: the token that Access adds to a request. */
  readonly tokenOf: (email: string) => Promise<string>;
}

export const refusalsWith = (access: Access): readonly Refusal[] => [
  { name: "no credential", prepare: async () => [{}], calls: lookUps(0) },
  { name: "malformed token", prepare: async () => [bearer("x.y.z")], calls: lookUps(0) },
  { name: "ended token", prepare: async (world, vault) => [bearer(await expiredToken(world, vault))], calls: lookUps(0) },
  { name: "revoked token", prepare: async (world, vault) => [bearer(await revokedToken(world, vault))], calls: lookUps(1) },
  { name: "invented cookie", prepare: async () => [cookie(INVENTED)], calls: lookUps(0) },
  { name: "ended session's cookie", prepare: async (world, vault) => [await endedSession(world, vault)], calls: lookUps(1) },
  { name: "10 cookies of a revoked token", prepare: (world, vault) => cookiesOfRevoked(world, vault, 10), calls: lookUps(10) },
  {
    name: "refused sign-in",
    prepare: async (world, vault) => {
      const token = await revokedToken(world, vault);
      return [{ code: INVENTED }, { token: "x.y.z" }, { token }].map((body) => ({ headers: CONSOLE, body }));
    },
    calls: lookUps(1),
  },
  {
    name: "uninvited person by Access",
    prepare: async () => {
      const assertion = await access.tokenOf(`${crypto.randomUUID()}@example.com`);
      return [{ headers: { ...CONSOLE, "Cf-Access-Jwt-Assertion": assertion }, body: {} }];
    },
    // A look-up, and one that tells whether the person may be under a key that is missing.
    calls: lookUps(2 * SIGN_INS),
    env: access.env,
  },
  { name: "wrong admin token", prepare: async () => [bearer("wrong-admin-token")], calls: lookUps(0) },
];

/** The most entries of a flood in the log of the admin, for one address and 10 s, and in that of a vault, for one token and 10 s. */
export const LOGGED = { admin: 10, vault: FAILURES } as const;

/** A request of a route, to a vault. The other ids of its path name nothing. */
export const pathOf = (path: string, vault: string): string =>
  path
    .replace(":vault", vault)
    .replace(":version", "1")
    .replaceAll(/:\w+/g, () => crypto.randomUUID());
