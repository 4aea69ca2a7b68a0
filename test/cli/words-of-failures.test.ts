import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { ItemVaultError } from "@item-vault/client";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { failureOf } from "../../packages/cli/src/frame/failure.ts";
import { describe as describeFailure, FAILURE_KINDS } from "../../src/model/failure.ts";
import { CATEGORIES } from "../../src/model/item.ts";
import { admin, makeToken } from "../sdk/support/vault.ts";
import { fileOf, folderOf } from "./support/files.ts";
import { ADMIN, ends, runHere } from "./support/here.ts";
import { hurryTime } from "./support/hurry.ts";
import { startInterceptor } from "./support/interceptor.ts";
import { vaultOf, type World } from "./support/login.ts";
import { startSelfSigned } from "./support/self-signed.ts";

/** What a stranger reads when a command fails: what is wrong, where, and what to do next. */

const folder = folderOf({
  plain: "text",
  "dir/file": "",
  "absent.json": '{"title":"x"}',
  "other.json": '{"title":"x","category":"LOGN"}',
});
const name = `Cases ${crypto.randomUUID()}`;

let world: World;
let destroyer: Record<string, string>;
beforeAll(async () => {
  world = await vaultOf(name);
  destroyer = { ITEM_VAULT_TOKEN: (await makeToken({ [world.vault]: "rwd" }, "uuid")).token };
});

const run = (line: string | readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHere(line, { env: { ...world.env, ...env }, cwd: folder });

const makeItem = async (title: string) => (await world.create({ title, fields: [{ purpose: "PASSWORD", value: "horse" }] })).id;

/** Returns variables by which the config file has these attributes, and there is no token besides. */
const configured = (config: object) => ({
  ITEM_VAULT_TOKEN: "",
  ITEM_VAULT_CONFIG: fileOf(JSON.stringify({ host: inject("url"), ...config })),
});

describe("item delete --destroy", () => {
  it("changes nothing when the token may not destroy", async () => {
    const id = await makeItem("Kept");
    for (const named of ["Kept", id])
      expect(await run(`item delete ${named} --destroy --yes`)).toMatchObject(ends(3, "may not destroy"));
    expect(await run("item get Kept")).toMatchObject({ code: 0 });
  });

  it("says that the Item is deleted when only the destruction fails after it", async () => {
    const id = await makeItem("Half");
    let asked = 0;
    const refuse = (request: string) => (request.includes("/deleted-items/") && ++asked > 1 ? 403 : undefined);
    const { url } = await startInterceptor({ refuse });
    const words = `The item was deleted, and is not destroyed yet: \`item-vault item restore ${id}\` restores it\n`;
    const ran = await run("item delete Half --destroy --yes", { ...destroyer, ITEM_VAULT_HOST: url });
    expect(ran).toMatchObject(ends(3, words));
    expect(await run(`item restore ${id}`)).toMatchObject({ code: 0 });
  });

  it.each([
    ["an Item by its id", "id", false],
    ["a deleted Item by its title", "title", true],
    ["a deleted Item by its id", "id", true],
  ])("destroys %s, and says when there is none any more", async (title, by, isDeleted) => {
    const id = await makeItem(title);
    if (isDeleted) await run(`item delete ${id}`);
    const line = `item delete '${by === "id" ? id : title}' --destroy --yes`;
    expect(await run(line, destroyer)).toMatchObject({ code: 0, stderr: `Destroyed ${id}\n` });
    expect(await run(line, destroyer)).toMatchObject({ code: 4 });
  });
});

it.each(["inject -i template", "run --env template -- true"])(
  "--fallback of `%s` replaces no file that is not one",
  async (line) => {
    const id = await makeItem("Fallback");
    writeFileSync(join(folder, "template"), `A="{{ op://${world.vault}/${id}/password }}"\n`);
    writeFileSync(join(folder, "precious.yml"), "mine: true\n");
    expect(await run(line.replace(" ", " --fallback precious.yml "))).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "item-vault: precious.yml is not a fallback file\nName another file with --fallback, or delete this one.\n",
    });
    expect(readFileSync(join(folder, "precious.yml"), "utf8")).toBe("mine: true\n");
  },
);

describe("a token", () => {
  it.each(["token list", "vault create x", "activity export", "admin keys"])(
    "of the admin that is missing is called so: %s",
    async (line) => {
      const stderr = "item-vault: No admin token is set\nSet ITEM_VAULT_ADMIN_TOKEN, or run `item-vault login --admin`.\n";
      expect(await run(line)).toMatchObject({ code: 3, stderr });
    },
  );

  it("that is missing is called so, with the variable that sets it", async () => {
    expect(await runHere("read op://a/b/c")).toMatchObject(ends(3, "No token is set\nSet ITEM_VAULT_TOKEN"));
  });

  it("that is refused is named with where it comes from, and with why that may be", async () => {
    const revoked = await makeToken({ [world.vault]: "r" }, "uuid");
    await admin("DELETE", `tokens/${revoked.id}`);
    const sources: [Record<string, string>, string][] = [
      [{ ITEM_VAULT_TOKEN: "mistyped" }, "of ITEM_VAULT_TOKEN"],
      [{ ITEM_VAULT_TOKEN: revoked.token }, "of ITEM_VAULT_TOKEN"],
      [{ ITEM_VAULT_TOKEN: "", OP_CONNECT_TOKEN: "mistyped" }, "of OP_CONNECT_TOKEN"],
      [configured({ token: "mistyped" }), "of the config file"],
      [configured({ token_command: ["echo", "mistyped"] }), "of the token command echo"],
    ];
    for (const [env, from] of sources) {
      const ran = await run("whoami", env);
      const refusal = `refuses the token ${from}: it is mistyped, revoked or expired\nSet ITEM_VAULT_TOKEN`;
      expect(ran).toMatchObject(ends(3, refusal));
      expect(ran.stderr).not.toMatch(/whoami|mistyped(?!,)/);
    }
  });

  it.each(["vault list --admin", "admin keys", "login --admin"])(
    "of the admin that is refused is named as such: %s",
    async (line) => {
      const ran = await runHere(line, { env: { ITEM_VAULT_ADMIN_TOKEN: "wrong" }, input: "wrong" });
      expect(ran).toMatchObject(ends(3, /refuses the admin token .*\n.*ADMIN_TOKEN/));
    },
  );

  it("of another service that refuses it is told from the own one", async () => {
    const ran = await run(`import --from-connect ${inject("url")}`, { OP_CONNECT_TOKEN: "mistyped" });
    expect(ran).toMatchObject(ends(3, "refuses the token of OP_CONNECT_TOKEN"));
    expect(ran.stderr).not.toContain("ITEM_VAULT_TOKEN");
  });

  it.each(["", "\n"])("that is not given to login is asked for, and sent nowhere: %j", async (input) => {
    expect(await runHere("login", { input })).toMatchObject(ends(2, "The token is empty"));
  });

  it("that lacks a permission is not called expired", async () => {
    const reader = await makeToken({ [world.vault]: "r" }, "uuid");
    const ran = await run("item create --title x", { ITEM_VAULT_TOKEN: reader.token });
    expect(ran).toMatchObject(ends(3, /may not write[^]*`item-vault whoami` shows what the token may do/));
    expect(ran.stderr).not.toMatch(/revoked|expired/);
  });
});

const hintOf = (kind: string, status: number) => failureOf(new ItemVaultError("message", { kind, status }))!.hint ?? "";

describe("the hint of a failure", () => {
  it.each(FAILURE_KINDS)("of the kind %s names the host only when nothing has answered", (kind) => {
    expect(hintOf(kind, describeFailure({ kind }).status)).not.toContain("host");
    expect(hintOf("network", 0)).toContain("host");
  });

  it("names what helps against a damaged record and a full database", () => {
    expect(hintOf("integrity", 500)).toContain("admin verify");
    for (const kind of ["database_full", "quota"]) expect(hintOf(kind, 507)).toContain("Delete");
  });

  it.each(["constructor", "toString", "__proto__"])("is that of the status when the service names the kind %s", (kind) => {
    expect([hintOf(kind, 503), hintOf(kind, 418)]).toEqual([hintOf("unknown", 503), ""]);
  });
});

const freePort = async () => {
  const server = createServer();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
};

const selfSigned = async () => {
  const server = await startSelfSigned();
  onTestFinished(server.close);
  return server.url;
};

describe("a service that is not reached", () => {
  it.each<[string, () => string | Promise<string>, RegExp]>([
    ["with a closed port", async () => `http://127.0.0.1:${await freePort()}`, /: the connection was refused\nCheck the host/],
    ["with an unknown name", () => `https://${"a".repeat(64)}.invalid`, /: the host name (?:is not known|cannot be looked up)/],
    [
      "that speaks http on the port of https",
      () => inject("url").replace(/^http:/, "https:"),
      /: the port does not speak https; is it http\?\n/,
    ],
    [
      "with a certificate that nobody trusts",
      selfSigned,
      /: its certificate is not trusted \(self-signed\)\n.*NODE_EXTRA_CA_CERTS/,
    ],
  ])("%s is answered with the cause", async (_, hostOf, words) => {
    hurryTime();
    // The time limit is not what these requests test, and `hurryTime` makes it short.
    const env = { ITEM_VAULT_TOKEN: "t", ITEM_VAULT_TIMEOUT: "3600" };
    const ran = await run(`whoami --host ${await hostOf()}`, env);
    expect(ran).toMatchObject(ends(6, words));
    expect(ran.stderr).not.toContain("whoami");
  });
});

describe("a path", () => {
  it.each<readonly [string, string]>([
    ["admin backup --copy-only --to plain", "item-vault: plain is not a folder\nName a folder with --to.\n"],
    ["admin backup --to plain", "item-vault: plain is not a folder\nName a folder with --to.\n"],
    ["admin restore --from plain", "item-vault: plain is not a folder\nName a folder with --from.\n"],
    ["admin verify --folder plain", "item-vault: plain is not a folder\nName a folder with --folder.\n"],
    ...[
      "item create nosuch",
      "item create --title x --field a=@nosuch",
      "import nosuch",
      "inject -i nosuch",
      "run --env nosuch -- true",
      "file put x nosuch",
      "admin verify --folder nosuch",
      "issuer create x --url https://a.example --jwks nosuch",
      "token exchange --token-file nosuch",
    ].map((line) => [line, "nosuch cannot be read: it does not exist\n"] as const),
    ...["item create dir", "import dir", "inject -i dir", "run -e dir -- true"].map(
      (line) => [line, "dir cannot be read: it is a folder\n"] as const,
    ),
  ])("that cannot be used is named in words: %s", async (line, words) => {
    expect(await run(line, ADMIN)).toMatchObject(ends(2, words));
  });

  it("whose folder is missing is not written, in words", async () => {
    const id = await makeItem("Written");
    const stderr = "item-vault: nodir/x cannot be written: its folder does not exist\n";
    expect(await run(`read -o nodir/x op://${world.vault}/${id}/password`)).toMatchObject({ code: 2, stderr });
  });

  it("that the system refuses is named, whatever the command does with it", () => {
    const error = Object.assign(new Error("ENOSPC"), { code: "ENOSPC", errno: -28, syscall: "write", path: "/x/y" });
    expect(failureOf(error)?.message).toBe("/x/y failed: no space left on device (ENOSPC)");
  });

  it("of a port that is in use says so", async () => {
    const place = new URL(inject("url")).host.replace("localhost", "127.0.0.1");
    const ran = await run(`serve --listen ${place} --copy copy --key-file key`);
    expect(ran).toMatchObject(ends(1, "the port is already in use\nName another"));
  });
});

describe("a category", () => {
  const ALL = CATEGORIES.join(", ");

  it.each([
    ["item list --category LOGN", `--category takes ${ALL}`],
    ["item create --title x --category LOGN", `--category takes ${ALL}`],
    ["item create absent.json", `item-vault: The JSON has no "category"\nIt is one of ${ALL}.\n`],
    ["item create other.json", "`item-vault item create --help` lists the categories."],
  ])("that is absent or has another name is answered with all that there are: %s", async (line, words) => {
    expect(await run(line)).toMatchObject(ends(2, words));
  });

  it("may be written in any case, and is in the help", async () => {
    expect(await run("item list --category login --format JSON")).toMatchObject({ code: 0 });
    const named = COMMANDS.filter(({ options }) => options["category"]).map((command) => command.name);
    for (const command of named) expect((await run(`${command} --help`)).stdout).toContain(ALL);
  });
});
