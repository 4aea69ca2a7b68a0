import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { inject, it, expect } from "vitest";
import { runHere } from "../cli/support/here.ts";
import { admin, connect, freshVault, makeItems } from "./support/vault.ts";

/** A workload without a stored token (contract 27): the command line exchanges its token, and the SDK of Connect uses what that prints. */

it("the SDK reads with the variables that `token exchange --print-env` prints, for 15 minutes", async () => {
  const { canonical, op, vault } = await freshVault();
  const [item = ""] = await makeItems({ op, vault }, "Deployed");
  const url = `https://${crypto.randomUUID()}.example.com`;
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one" };
  const issuer = (await admin("POST", "issuers", { name: "Builds", issuer: url, jwks: { keys: [jwk] } })) as { id: string };
  await admin("POST", "rules", { issuer: issuer.id, claims: { project: 42 }, vaults: { [canonical]: "r" }, dialect: "connect" });
  const host = inject("url").replace(/\/$/, "");
  const token = await new SignJWT({ project: 42 })
    .setProtectedHeader({ alg: "RS256", kid: "one" })
    .setIssuer(url)
    .setAudience(host)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);
  const env = { ITEM_VAULT_HOST: host, ITEM_VAULT_ID_TOKEN: token };
  const { stdout, code } = await runHere(["token", "exchange", "--print-env"], { env });
  const printed = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  expect([code, Object.keys(printed)]).toEqual([0, ["OP_CONNECT_HOST", "OP_CONNECT_TOKEN"]]);
  expect(printed["OP_CONNECT_HOST"]).toBe(host);
  const client = connect(printed["OP_CONNECT_TOKEN"]);
  expect((await client.getItemById(vault, item)).title).toBe("Deployed");
  await expect(client.deleteItem(vault, item)).rejects.toMatchObject({ status: 403 });
  const { exp, iat } = decodeJwt(printed["OP_CONNECT_TOKEN"]);
  expect(exp! - iat!).toBe(900);
});
