import { createConsoleSecret, parseConsoleSecret, type Use } from "../../src/crypto/console-secret.ts";
import { type Claims, hashToken, signToken, verifyToken } from "../../src/crypto/token.ts";
import { type Example, form, GENERATION, ITEM, keyringOf, ROOT_KEYS, TOKEN, VAULT } from "./example.ts";

/** The texts of tokens, cookies and codes, and what their rows have of them. */

interface Token extends Example {
  readonly rootKeys: string;
  readonly claims: Claims;
}

/** The text of a token and the hash in its row, and whether the text is accepted. */
async function readToken({ rootKeys, claims }: Omit<Token, "opens">) {
  const keyring = await keyringOf(rootKeys);
  const text = await signToken(keyring, claims);
  const { ok } = await verifyToken(keyring, text, claims.issuedAt * 1000, 0);
  return { text, hash: await hashToken(text), isAccepted: ok };
}

const tokenExample = (more: Partial<Claims>) => async () => {
  const times = { issuedAt: 1_800_000_000, expiresAt: 1_800_003_600 };
  const claims: Claims = { id: TOKEN, name: "é", dialect: "uuid", vaults: { [VAULT]: "rw" }, ...times, ...more };
  const made = { rootKeys: ROOT_KEYS, claims };
  return { ...made, opens: await readToken(made) };
};

export const TOKENS = form<Token>({
  examples: {
    "of a vault": tokenExample({}),
    "of Items, below another token": tokenExample({
      dialect: "connect",
      vaults: { [VAULT]: { permissions: "r", items: [ITEM] } },
      stale: 60,
      delegate: true,
      descent: { ancestors: [GENERATION], issuedAt: 1_799_999_999 },
    }),
    "of the admin": tokenExample({ kind: "admin", vaults: {}, backupsOnly: true }),
    "of a workload": tokenExample({ kind: "workload", descent: { ancestors: [GENERATION], issuedAt: 1_799_999_999 } }),
    "of a person, which nobody has": tokenExample({ kind: "person", name: "ada@example.com", admin: true }),
    "for service bindings, which nobody has": tokenExample({ binding: true }),
    "of the admin, for lists": tokenExample({ kind: "admin", vaults: {}, adminRead: true }),
  },
  read: readToken,
});

interface Code extends Example {
  readonly rootKeys: string;
  readonly use: Use;
  readonly text: string;
}

const CODES: readonly Use[] = ["session", "sign-in-code", "authorization-code", "login-code"];

export const CODE = form<Code>({
  examples: Object.fromEntries(
    CODES.map((use) => [
      use,
      async () => {
        const { text, id } = await createConsoleSecret(await keyringOf(ROOT_KEYS), use);
        return { rootKeys: ROOT_KEYS, use, text, opens: id };
      },
    ]),
  ),
  read: async ({ rootKeys, use, text }) => parseConsoleSecret(await keyringOf(rootKeys), use, text),
});
