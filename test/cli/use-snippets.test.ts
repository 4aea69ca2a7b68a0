import { execFileSync } from "node:child_process";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { QUOTES, SNIPPETS, type Target } from "../../packages/console/src/use/snippets.ts";

/** The lines of the tab "Use" of the console, with names that could end a literal or run as code. */

const NAMES = [
  "plain",
  "",
  " spaces ",
  "it's",
  "''",
  "'; touch /tmp/owned; '",
  'say "hi"',
  '"; touch /tmp/owned; "',
  "`id`",
  "$(id)",
  "${IFS}",
  "$HOME",
  "$$${x}",
  "${{ secrets.GITHUB_TOKEN }}",
  "a ${{ 'b' }} }} c",
  "}}",
  "%{ if true }x%{ endif }",
  "%%{",
  "$${",
  "%TEMP%",
  "--help",
  "-rf",
  "# comment",
  "a # b",
  "key: value",
  "- list",
  "*alias",
  "&anchor !tag |",
  "null",
  "0x1f",
  "line\nbreak",
  "carriage\rreturn\ttab",
  "back\\slash",
  "\\",
  "\\u0041\\'",
  "\u2018curly\u2019\u201a\u201b",
  "\u001b[31mred\u0007\u0003",
  "\u202eright to left\u200b\u00ad",
  "line\u2028and\u2029\u0085next\ufeff",
  "🔑\u{e0041}鍵é",
  "@here 'x'\n'@",
  "\\(1 + 1)",
];

/** What PowerShell reads: a quote of any form ends a literal in single quotes, unless another one follows. */
function readPowershell(literal: string): string {
  const [, content = ""] = /^['\u2018-\u201b]((?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*)['\u2018-\u201b]$/.exec(literal)!;
  return content.replaceAll(/['\u2018-\u201b](['\u2018-\u201b])/g, "$1");
}

/** What HCL reads (specification of its syntax, "Template Expressions"); Terraform reads these names alike. */
function readHcl(literal: string): string {
  expect(literal).toMatch(/^"(?:[^"\\\n]|\\.)*"$/);
  const parts = literal.slice(1, -1).match(/\$\$\{|%%\{|[$%]\{|\\["\\]|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|[^\\]/gu) ?? [];
  return parts
    .map((part) => {
      if (/^[$%]\{$/.test(part)) throw new Error("begins a template");
      if (/^(?:\$\$|%%)\{$/.test(part)) return part.slice(1);
      if (/^\\["\\]$/.test(part)) return part.slice(1);
      return /^\\[uU]/.test(part) ? String.fromCodePoint(parseInt(part.slice(2), 16)) : part;
    })
    .join("");
}

/** What GitHub makes of a text of a workflow: the whole is one expression, and that is one literal. */
function readGithub(text: string): string {
  const value = parse(text) as string;
  if (!value.includes("${{")) return value;
  const [, content] = /^\$\{\{ '((?:[^']|'')*)' \}\}$/.exec(value)!;
  return content!.replaceAll("''", "'");
}

const READERS = {
  powershell: readPowershell,
  yaml: (text: string) => parse(text) as unknown,
  github: readGithub,
  hcl: readHcl,
  js: (text: string) => runInNewContext(text) as unknown,
} as const;

/** The arguments that a real shell makes of a command line. */
const shellArguments = (line: string): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

describe("a literal with a hostile name", () => {
  it("is one argument of the shell", () => {
    expect(shellArguments(NAMES.map(QUOTES.sh).join(" "))).toEqual(NAMES);
  });

  it.each(Object.keys(READERS) as (keyof typeof READERS)[])("is the name in %s", (language) => {
    expect(NAMES.map((name) => READERS[language](QUOTES[language](name)))).toEqual(NAMES);
  });

  it("shows every hidden character, where its language has escapes", () => {
    const shown = [QUOTES.yaml, QUOTES.hcl, QUOTES.js, QUOTES.github].flatMap((quote) => NAMES.map(quote));
    expect(shown.filter((text) => /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(text))).toEqual([]);
  });
});

const ID = "abcdefghijklmnopqrstuvwxyz";
const target = (name: string, rest: Partial<Target> = {}): Target => ({
  host: "https://vault.example.com",
  vault: ID,
  item: ID,
  id: name,
  kind: "field",
  title: name,
  name,
  section: name,
  reference: `op://${name}`,
  ...rest,
});

const format = (name: string, one: Target): string => SNIPPETS.find((snippet) => snippet.name === name)!.format(one)!;

describe("lines with a hostile name", () => {
  it.each(NAMES.filter((name) => name !== ""))("have it in literals only: %j", (name) => {
    const one = target(name);
    expect(shellArguments(format("Command line", one))).toEqual(["item-vault", "read", `op://${name}`]);
    expect(shellArguments(format("Run a program", one))[0]).toBe(`SECRET=op://${name}`);
    const [assignment = ""] = format("PowerShell", one).split("\nitem-vault run -- ./deploy");
    expect(readPowershell(assignment.slice("$env:SECRET = ".length))).toBe(`op://${name}`);
    const [, step] = parse(format("GitHub Actions", one)) as [unknown, { readonly env: { readonly SECRET: string } }];
    expect(readGithub(QUOTES.yaml(step.env.SECRET))).toBe(`op://${name}`);
    expect(parse(format("Kubernetes, External Secrets", one))).toMatchObject({
      spec: { data: [{ secretKey: "secret", remoteRef: { key: name, property: name } }] },
    });
    const literals = format("Terraform", one).match(/(?<=\[)"(?:[^"\\]|\\.)*"(?=\])/g)!;
    expect(literals.map(readHcl)).toEqual([name, name]);
    const [filter = ""] = shellArguments(format("curl", one).split("|\n  jq -r ")[1]!);
    const [, text = ""] = /^\.fields\[\] \| select\(\.id == (".*")\)\.value$/.exec(filter)!;
    expect(JSON.parse(text)).toBe(name);
    const [, id = ""] = /id === ("(?:[^"\\]|\\.)*")\)\.value;$/.exec(format("JavaScript SDK", one))!;
    expect(READERS.js(id)).toBe(name);
  });

  it("of a File have its id in the address, and give no other file a name", () => {
    const line = format("curl", target("../x'y", { kind: "file" }));
    expect(shellArguments(line).slice(-3)).toEqual([
      "-o",
      "file",
      `https://vault.example.com/v1/vaults/${ID}/items/${ID}/files/..%2Fx'y/content`,
    ]);
  });

  it("are left out where a program cannot reach the field", () => {
    const byId = ["Kubernetes, 1Password operator", "Kubernetes, External Secrets", "curl", "JavaScript SDK"];
    const one = target("x", { section: undefined, reference: undefined });
    expect(SNIPPETS.filter((snippet) => snippet.format(one) !== undefined).map(({ name }) => name)).toEqual(byId);
  });
});
