import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { failureOf } from "../../packages/cli/src/frame/failure.ts";
import { CATEGORIES } from "../../src/model/item.ts";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { startInterceptor } from "./support/interceptor.ts";
import { hurryTime } from "./support/hurry.ts";
import { startSelfSigned } from "./support/self-signed.ts";

/** What a stranger reads when a command fails: what is wrong, where, and what to do next. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-words-"));
const ADMIN_TOKEN = inject("secrets").ADMIN_TOKEN;

let vault: string;
let token: string;
let name: string;
beforeAll(async () => {
  name = `Cases ${crypto.randomUUID()}`;
  vault = await makeVault(name);
  ({ token } = await makeToken({ [vault]: "rw" }, "uuid"));
});

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runHere(args, { env: { ITEM_VAULT_TOKEN: token, ...env }, cwd: folder });

const makeItem = async (title: string, fields: readonly object[] = []) =>
  (
    (await sendRequest("POST", `v1/vaults/${vault}/items`, token, {
      title,
      category: "LOGIN",
      vault: { id: vault },
      fields,
    })) as {
      id: string;
    }
  ).id;

const write = (path: string, text: string) => (writeFileSync(join(folder, path), text), path);

/** Variables by which the config file has what the function gets. */
const configured = (text: object) => {
  const path = join(mkdtempSync(join(folder, "config-")), "config.json");
  writeFileSync(path, JSON.stringify({ host: inject("url"), ...text }), { mode: 0o600 });
  return { ITEM_VAULT_TOKEN: "", ITEM_VAULT_CONFIG: path };
};

/** The time limit is not what these requests test, and `hurryTime` makes it short. */
const whoami = (host: string) => run(["whoami", "--host", host], { ITEM_VAULT_TOKEN: "t", ITEM_VAULT_TIMEOUT: "3600" });
const freePort = async () => {
  const server = createServer();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
};

describe("item delete --destroy", () => {
  it("changes nothing when the token may not destroy", async () => {
    const id = await makeItem("Kept");
    for (const named of ["Kept", id])
      expect(await run(["item", "delete", named, "--destroy", "--yes"])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("may not destroy"),
      });
    expect(await run(["item", "get", "Kept"])).toMatchObject({ code: 0 });
  });

  it("says that the Item is deleted when only the destruction fails after it", async () => {
    const { token: destroyer } = await makeToken({ [vault]: "rwd" }, "uuid");
    const id = await makeItem("Half");
    let asked = 0;
    const refuse = (request: string) => (request.includes("/deleted-items/") && ++asked > 1 ? 403 : undefined);
    const { url } = await startInterceptor({ refuse });
    const env = { ITEM_VAULT_TOKEN: destroyer, ITEM_VAULT_HOST: url };
    expect(await run(["item", "delete", "Half", "--destroy", "--yes"], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        `The item was deleted, and is not destroyed yet: \`item-vault item restore ${id}\` restores it\n`,
      ),
    });
    expect(await run(["item", "restore", id])).toMatchObject({ code: 0 });
  });

  it("destroys an Item, a deleted Item, and says when there is neither", async () => {
    const { token: destroyer } = await makeToken({ [vault]: "rwd" }, "uuid");
    const env = { ITEM_VAULT_TOKEN: destroyer };
    const [one, two] = [await makeItem("One"), await makeItem("Two")];
    await run(["item", "delete", two]);
    for (const id of [one, two]) {
      const ran = await run(["item", "delete", id, "--destroy", "--yes"], env);
      expect(ran).toMatchObject({ code: 0, stderr: `Destroyed ${id}\n` });
      expect(await run(["item", "delete", id, "--destroy", "--yes"], env)).toMatchObject({ code: 4 });
    }
  });
});

describe("--fallback", () => {
  it.each([
    ["inject", ["-i", "template"]],
    ["run", ["--env", "template", "--", "true"]],
  ])("of %s replaces no file that is not a fallback file", async (command, args) => {
    await makeItem(`Fallback of ${command}`, [{ purpose: "PASSWORD", value: "horse" }]);
    write("template", `A="{{ op://${vault}/Fallback of ${command}/password }}"\n`);
    write("precious.yml", "mine: true\n");
    const [first, ...rest] = args;
    expect(await run([command, "--fallback", "precious.yml", first!, ...rest])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "item-vault: precious.yml is not a fallback file\nName another file with --fallback, or delete this one.\n",
    });
    expect(readFileSync(join(folder, "precious.yml"), "utf8")).toBe("mine: true\n");
  });
});

describe("a token", () => {
  it("of the admin that is missing is called so, with the login that stores one", async () => {
    for (const args of [
      ["token", "list"],
      ["vault", "create", "x"],
      ["activity", "export"],
      ["admin", "keys"],
    ])
      expect(await run(args)).toMatchObject({
        code: 3,
        stderr: "item-vault: No admin token is set\nSet ITEM_VAULT_ADMIN_TOKEN, or run `item-vault login --admin`.\n",
      });
  });

  it("that is refused is named with where it comes from, and with why that may be", async () => {
    const revoked = await makeToken({ [vault]: "r" }, "uuid");
    await admin("DELETE", `tokens/${revoked.id}`);
    const sources: [Record<string, string>, string][] = [
      [{ ITEM_VAULT_TOKEN: "mistyped" }, "of ITEM_VAULT_TOKEN"],
      [{ ITEM_VAULT_TOKEN: revoked.token }, "of ITEM_VAULT_TOKEN"],
      [{ ITEM_VAULT_TOKEN: "", OP_CONNECT_TOKEN: "mistyped" }, "of OP_CONNECT_TOKEN"],
      [configured({ token: "mistyped" }), "of the config file"],
      [configured({ token_command: ["echo", "mistyped"] }), "of the token command echo"],
    ];
    for (const [env, from] of sources) {
      const { code, stderr } = await run(["whoami"], env);
      const refusal = `refuses the token ${from}: it is mistyped, revoked or expired\nSet ITEM_VAULT_TOKEN`;
      expect([code, stderr]).toEqual([3, expect.stringContaining(refusal)]);
      expect(stderr).not.toContain("whoami");
    }
  });

  it("of another service that refuses it is told from the own one", async () => {
    const ran = await run(["import", "--from-connect", inject("url")], { OP_CONNECT_TOKEN: "mistyped" });
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining("refuses the token of OP_CONNECT_TOKEN") });
    expect(ran.stderr).not.toContain("ITEM_VAULT_TOKEN");
  });

  it("that is not given to login is asked for, and sent nowhere", async () => {
    for (const input of ["", "\n"])
      expect(await runHere(["login"], { input })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("The token is empty"),
      });
  });

  it("that lacks a permission is not called expired", async () => {
    const reader = await makeToken({ [vault]: "r" }, "uuid");
    const { code, stderr } = await run(["item", "create", "--title", "x"], { ITEM_VAULT_TOKEN: reader.token });
    expect([code, stderr]).toEqual([3, expect.stringContaining("may not write")]);
    expect(stderr).toContain("`item-vault whoami` shows what the token may do");
    expect(stderr).not.toMatch(/revoked|expired/);
  });
});

describe("a service that is not reached", () => {
  const hosts: Record<string, readonly [host: () => Promise<string>, words: RegExp]> = {
    "with a closed port": [async () => `http://127.0.0.1:${await freePort()}`, /: the connection was refused\nCheck the host/],
    "with an unknown name": [
      async () => `https://${"a".repeat(64)}.invalid`,
      /: the host name (?:is not known|cannot be looked up)/,
    ],
    "that speaks http on the port of https": [
      async () => inject("url").replace(/^http:/, "https:"),
      /: the port does not speak https; is it http\?\n/,
    ],
    "with a certificate that nobody trusts": [
      async () => {
        const server = await startSelfSigned();
        onTestFinished(server.close);
        return server.url;
      },
      /: its certificate is not trusted \(self-signed\)\n.*NODE_EXTRA_CA_CERTS/,
    ],
  };

  it.each(Object.keys(hosts))("%s is answered with the cause", async (which) => {
    hurryTime();
    const [host, words] = hosts[which]!;
    const { code, stderr } = await whoami(await host());
    expect([code, stderr]).toEqual([6, expect.stringMatching(words)]);
    expect(stderr).not.toContain("whoami");
  });
});

describe("a path", () => {
  const env = { ITEM_VAULT_ADMIN_TOKEN: ADMIN_TOKEN };
  const reference = `op://Cases/x/y`;

  it.each([
    [["admin", "backup", "--copy-only", "--to"]],
    [["admin", "backup", "--to"]],
    [["admin", "restore", "--from"]],
    [["admin", "verify", "--folder"]],
  ])("of a folder that is a file is refused before anything else: %j", async (args) => {
    write("plain", "text");
    expect(await run([...args, "plain"], env)).toMatchObject({
      code: 2,
      stderr: `item-vault: plain is not a folder\nName a folder with ${args.at(-1)}.\n`,
    });
  });

  it.each([
    [["item", "create", "nosuch"]],
    [["item", "create", "--title", "x", "--field", "a=@nosuch"]],
    [["import", "nosuch"]],
    [["inject", "-i", "nosuch"]],
    [["run", "--env", "nosuch", "--", "true"]],
    [["file", "put", "x", "nosuch"]],
    [["admin", "verify", "--folder", "nosuch"]],
    [["issuer", "create", "x", "--url", "https://a.example", "--jwks", "nosuch"]],
    [["token", "exchange", "--token-file", "nosuch"]],
  ])("that is missing is named in words: %j", async (args) => {
    const { code, stderr } = await run(args, env);
    expect([code, stderr]).toEqual([2, expect.stringContaining("nosuch cannot be read: it does not exist\n")]);
  });

  it("of a folder in place of a file is named in words", async () => {
    mkdirSync(join(folder, "dir"), { recursive: true });
    for (const args of [
      ["item", "create", "dir"],
      ["import", "dir"],
      ["inject", "-i", "dir"],
      ["run", "-e", "dir", "--", "true"],
    ])
      expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("dir cannot be read: it is a folder\n") });
  });

  it("whose folder is missing is not written, in words", async () => {
    await makeItem("Written", [{ purpose: "PASSWORD", value: "horse" }]);
    const { code, stderr } = await run(["read", "-o", "nodir/x", reference.replace("Cases/x/y", `${vault}/Written/password`)]);
    expect([code, stderr]).toEqual([2, "item-vault: nodir/x cannot be written: its folder does not exist\n"]);
  });

  it("that the system refuses is named, whatever the command does with it", () => {
    const error = Object.assign(new Error("ENOSPC"), { code: "ENOSPC", errno: -28, syscall: "write", path: "/x/y" });
    expect(failureOf(error)?.message).toBe("/x/y failed: no space left on device (ENOSPC)");
  });

  it("of a port that is in use says so", async () => {
    const place = new URL(inject("url")).host.replace("localhost", "127.0.0.1");
    const { code, stderr } = await run(["serve", "--listen", place, "--copy", "copy", "--key-file", "key"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("the port is already in use\nName another")]);
  });
});

describe("a category", () => {
  it.each([
    ["item", "list", "--category", "LOGN"],
    ["item", "create", "--title", "x", "--category", "LOGN"],
  ])("of another name is answered with all that there are: %s %s", async (...args) => {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--category takes ${CATEGORIES.join(", ")}`)]);
  });

  it("of JSON that is absent or has another name is answered with all that there are", async () => {
    expect(await run(["item", "create", write("absent.json", '{"title":"x"}')])).toMatchObject({
      code: 2,
      stderr: `item-vault: The JSON has no "category"\nIt is one of ${CATEGORIES.join(", ")}.\n`,
    });
    expect(await run(["item", "create", write("other.json", '{"title":"x","category":"LOGN"}')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("`item-vault item create --help` lists the categories."),
    });
  });

  it("may be written in any case, and is in the help", async () => {
    expect(await run(["item", "list", "--category", "login", "--format", "JSON"])).toMatchObject({ code: 0 });
    const named = COMMANDS.filter(({ options }) => options["category"]).map((command) => command.name);
    for (const command of named) expect((await run([...command.split(" "), "--help"])).stdout).toContain(CATEGORIES.join(", "));
  });
});
