import { describe, expect, it } from "vitest";
import operations from "../../docs/operations.md?raw";

/** The commands of docs/operations.md: isolates that have the value of a secret before live on for a while. */

/**
 * Commands that set a secret on which the next command relies, and how long that waits: a coordinator may keep the root keys of before for
 * another five minutes, and reads no other secret. `keys remove` is none of them: what is removed is not used any more.
 */
const WAITS = [
  { sets: /keys (stage|activate) .*--upload/, wait: /\bsleep 360\b/ },
  { sets: /secret put (TOKENS_NOT_BEFORE|ADMIN_TOKEN)/, wait: /\bsleep 120\b/ },
];

/** The commands of each `sh` block. */
const blocks = [...operations.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!.trim().split(/\n| && /));
const settings = blocks.flatMap((block) =>
  block.flatMap((command, place) => {
    const wait = WAITS.find(({ sets }) => sets.test(command))?.wait;
    return wait && place + 1 < block.length ? [[command, block[place + 1]!, wait] as const] : [];
  }),
);

const removals = blocks.filter((block) => block.some((command) => command.includes("keys remove")));
const leak = blocks.find((block) => block[0]!.includes("secret put ADMIN_TOKEN"))!.join("\n");

const files: Readonly<Record<string, string>> = import.meta.glob("../../src/**/*.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});
const sources = Object.values(files).join("\n");

/** What `must` writes for a failure, up to where the quotation is cut. */
const messages = [...operations.matchAll(/`could\snot\s([^`:…]+?)\s?[:…][^`]*`/g)].map(([, what]) => what!.replaceAll("\n", " "));

describe("the runbooks", () => {
  it("quote messages that the service logs", () => {
    expect(messages).toContain("delete expired entries");
    expect(messages.filter((what) => !sources.includes(`must("${what}`))).toEqual([]);
  });

  it("set secrets: two rotations of root keys, the time of a restore, and ADMIN_TOKEN", () => {
    expect(settings).toHaveLength(6);
  });

  it.each(settings)("wait until every isolate has the new value: %s", (_, next, wait) => {
    expect(next).toMatch(wait);
  });

  it("back up before they remove a root key, because the newest backup has to open without it", () => {
    const placesOf = (text: string) => removals.map((block) => block.findIndex((command) => command.includes(text)));
    expect(removals).toHaveLength(2);
    const [backups, removed] = [placesOf("item-vault admin backup"), placesOf("keys remove")];
    expect(backups.filter((place, index) => place < 0 || place > removed[index]!)).toEqual([]);
  });

  it.each(["item-vault token list", "item-vault person list", "/v1/admin/vaults/$vault/webhooks"])(
    "look after a leak of ADMIN_TOKEN for what was made with it: %s",
    (command) => {
      expect(leak).toContain(command);
    },
  );
});
