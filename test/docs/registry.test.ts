import { describe, expect, it } from "vitest";

/**
 * Nothing of this project is published on npm, so whoever registers one of its names there would get the secrets of those who run it. No
 * document, message, script or workflow has a command that fetches such a package.
 */

const texts: Readonly<Record<string, string>> = import.meta.glob(
  [
    "../../{*,docs/**/*,action/*,packages/*/*,tools/*}.{md,json,mjs,yml}",
    "../../.github/**/*.{md,yml}",
    "../../{packages,scripts,src}/**/*.{ts,tsx,html,mjs}",
    "!../../**/{node_modules,dist}/**",
  ],
  { query: "?raw", import: "default", eager: true },
);

/** A package of the project, with or without a version, as a whole word. */
const NAME = String.raw`["'\x60]?(?:item-vault|iv|@item-vault/[\w-]+)(?:@[\w.^~-]+)?(?![\w/.:-])`;
/** Options before the name. One with a value is written with an equals sign, but for `--package` and `-p`. */
const OPTIONS = String.raw`(?:--?[\w-]+(?:=\S+)? +)*`;
const FETCHES: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:npx|bunx|pnpx|npm (?:exec|x)|(?:pnpm|yarn) dlx) +(?!--no(?:-install)? )${OPTIONS}(?:-- +)?${NAME}`),
  new RegExp(
    String.raw`\b(?:npm|pnpm|yarn|bun) +(?:install|i|ci|add|update|create|init|view|pack) +${OPTIONS}(?:\S+ +)*?${NAME}`,
  ),
  new RegExp(String.raw`(?:--package|-p)[ =]+${NAME}`),
  // An empty variable leaves npx with the name of the command.
  /(?:--package|--global|-g)[ =]+"?\$(?:\w|\{\w+\})/,
  new RegExp(
    String.raw`(?:npm:|(?:unpkg\.com|jsdelivr\.net/npm|esm\.sh|esm\.run|registry\.npmjs\.org)/)(?:item-vault|@item-vault/)`,
  ),
  // An action of an owner that nobody knows.
  /\buses: +(?!OWNER\/item-vault\/action@<commit>)[\w.-]*\/?item-vault\b/,
];

const fetching = (text: string): string[] => text.split("\n").filter((line) => FETCHES.some((pattern) => pattern.test(line)));

/** Lines that hold a guard of their own, or name a package that the owner of the project is about to publish. */
const GUARDED: Readonly<Record<string, string>> = {
  "action/action.yml": 'program=(npx --yes --package "$PACKAGE" item-vault)',
};

describe("a package that is not published", () => {
  it("is in no text that anybody would run", () => {
    expect(Object.keys(texts).length).toBeGreaterThan(700);
    const found = Object.entries(texts).flatMap(([key, text]) => {
      const path = new URL(key, "https://root/test/docs/").pathname.slice(1);
      return fetching(text)
        .filter((line) => line.trim() !== GUARDED[path])
        .map((line) => `${path}: ${line.trim()}`);
    });
    expect(found).toEqual([]);
  });

  it.each([
    "npx item-vault admin deploy",
    "`npx -y item-vault@latest read`",
    "npx --yes -- item-vault read",
    "npm exec item-vault read",
    "pnpm dlx item-vault",
    "npm i -g item-vault",
    "npm install --save-dev @item-vault/client",
    "npm install hono @item-vault/client",
    "npm install @item-vault/client@^1.0.0",
    "yarn add @item-vault/client",
    "npx --package item-vault iv",
    "npx --package=item-vault@1 iv",
    'npx --yes --package "$PACKAGE" item-vault run',
    'npm install --global "$ITEM_VAULT_PACKAGE"',
    'import { createClient } from "https://esm.sh/@item-vault/client";',
    "- uses: item-vault/action@v1",
    "- uses: someone/item-vault/action@v1",
  ])("is found in: %s", (line) => {
    expect(fetching(line)).toEqual([line]);
  });

  it.each([
    "npx --no item-vault read op://Demo/Database/password",
    "npx --no-install item-vault --help",
    "npm install --global /item-vault-1.0.0-rc.1.tgz",
    'npx --yes --package "${PACKAGE:?}" item-vault run -- ./deploy',
    "npm run deploy",
    "npx wrangler rollback",
    "item-vault import FILE",
    "- uses: OWNER/item-vault/action@<commit>",
  ])("is not found in: %s", (line) => {
    expect(fetching(line)).toEqual([]);
  });
});
