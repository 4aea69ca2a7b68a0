import { ItemVaultError } from "@item-vault/client";
import { describe, expect, inject, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { failureOf } from "../../packages/cli/src/frame/failure.ts";
import { nearestOf } from "../../packages/cli/src/frame/advice.ts";
import { describe as describeFailure, FAILURE_KINDS } from "../../src/model/failure.ts";
import { runHere } from "./support/here.ts";

/** What a command advises after a failure. */

const hintOf = (kind: string, status: number) => failureOf(new ItemVaultError("message", { kind, status }))!.hint ?? "";

describe("the hint of a failure", () => {
  it.each(FAILURE_KINDS)("of the kind %s names the host only when nothing has answered", (kind) => {
    expect(hintOf(kind, describeFailure({ kind }).status)).not.toContain("host");
  });

  it("names the host when nothing has answered", () => expect(hintOf("network", 0)).toContain("host"));

  it("names what helps against a damaged record and a full database", () => {
    expect(hintOf("integrity", 500)).toContain("admin verify");
    for (const kind of ["database_full", "quota"]) expect(hintOf(kind, 507)).toContain("Delete");
  });

  it.each(["constructor", "toString", "__proto__"])("is that of the status when the service names the kind %s", (kind) => {
    expect(hintOf(kind, 503)).toBe(hintOf("unknown", 503));
    expect(hintOf(kind, 418)).toBe("");
  });

  it("names the admin token when that is wrong", async () => {
    const env = { ITEM_VAULT_ADMIN_TOKEN: "wrong" };
    for (const args of [
      ["vault", "list", "--admin"],
      ["admin", "keys"],
      ["login", "--admin", "--host", inject("url")],
    ]) {
      const { code, stderr } = await runHere(args, { env, input: "wrong" });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/refuses the admin token .*\n.*ADMIN_TOKEN/)]);
    }
  });
});

describe("a mistyped command", () => {
  const names = COMMANDS.filter(({ hidden }) => !hidden).map(({ name }) => name);
  /** `servre` is one mistake away from `serve` too. */
  const distinct = names.filter((name) => name !== "server");

  it.each(distinct)("is answered with %s, when one letter of it is missing or two are exchanged", (name) => {
    const missing = name.slice(0, -2) + name.slice(-1);
    const exchanged = name.slice(0, -2) + name.slice(-1) + name.at(-2)!;
    for (const typed of [missing, exchanged]) expect(names.includes(typed) ? name : nearestOf(names, typed)).toBe(name);
  });

  it.each([
    ["reda op://a/b/c", "read"],
    ["item lst --vault Demo", "item list"],
    ["itme list", "item list"],
  ])("in `%s` is answered with %s", async (line, name) => {
    const { code, stderr } = await runHere(line.split(" "));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Did you mean \`item-vault ${name}\`?`)]);
  });

  it("that is like none gets no suggestion", async () => {
    expect((await runHere(["frobnicate"])).stderr).toContain("Run `item-vault --help`.");
  });
});
