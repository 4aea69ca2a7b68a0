import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { makeToken, makeVault, type Permission, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { button, choose, confirm, dialogOf, focused, heading, listed, pressKeys, see, toast } from "./support/console.ts";
import { injectFault, limitVault } from "./support/faults.ts";
import { openPage, type PageOptions } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";

/** Moving and copying Items in the console. */

interface File {
  readonly id: string;
  readonly name: string;
  readonly section?: { readonly id: string };
}
interface Item {
  readonly id: string;
  readonly title: string;
  readonly files: readonly File[];
}

const UPLOADS = "/v1/vaults/*/items/*/files";

const ITEM = {
  ...login("Key", { password: "moved-secret" }),
  favorite: true,
  tags: ["prod"],
  sections: [{ id: "s", label: "Files" }],
};

const sampleOf = (size: number, seedOf: number) => Uint8Array.from({ length: size }, (_, index) => (index * seedOf) % 251);
/** Two Files of one name and one size, an empty one, and one that has several chunks. */
const FILES = [
  ["a.bin", "s", sampleOf(300_000, 7)],
  ["same", undefined, sampleOf(100, 3)],
  ["same", undefined, sampleOf(100, 5)],
  ["empty", undefined, new Uint8Array()],
] as const;

const SMALL = FILES.slice(1, 2);

interface Options extends PageOptions {
  /** What the session may do in the two vaults. */
  readonly from?: Permission;
  readonly to?: Permission;
}

/** An Item with Files in one vault, another vault, and a page that shows the Item. */
async function openItem(files: readonly (typeof FILES)[number][] = SMALL, options: Options = {}) {
  const { from = "rw", to = "rw" } = options;
  const { vault, token: writer, items } = await seed([ITEM], { name: "From", permission: "rwd" });
  const target = await makeVault("To");
  const { token: all } = await makeToken({ [vault]: "rwd", [target]: "rwd" }, "uuid");
  const id = items[0]!;
  const path = `v1/vaults/${vault}/items/${id}`;
  for (const [name, section, bytes] of files)
    await sendRequest("POST", `${path}/files?name=${name}${section ? `&section=${section}` : ""}`, writer, bytes);
  const page = await openPage({ token: (await makeToken({ [vault]: from, [target]: to }, "uuid")).token, ...options });
  await page.goto(`/console/#/items/${vault}/${id}`);
  const list = async (of: string) => (await sendRequest("GET", `v1/vaults/${of}/items`, all)) as Item[];
  const titles = async () => Promise.all([vault, target].map(async (of) => (await list(of)).map(({ title }) => title)));
  return { page, vault, target, path, all, list, titles };
}

const move = (page: Page, act = "Move") => choose(page, "Move or copy…", act);
const moved = (page: Page) => toast(page, "Moved").waitFor();

/** What an Item is besides its ids and times, with the hashes of its Files. */
async function contentOf(token: string, path: string): Promise<unknown> {
  const item = (await sendRequest("GET", path, token)) as Item & Readonly<Record<string, unknown>>;
  const hashes = await Promise.all(
    item.files.map(async (file) => {
      const url = new URL(`${path}/files/${file.id}/content`, inject("url"));
      const bytes = await (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).bytes();
      return [file.name, file.section?.id ?? "", createHash("sha256").update(bytes).digest("hex")].join(" ");
    }),
  );
  const attributes = ["title", "category", "favorite", "tags", "urls", "sections", "fields"].map((name) => item[name]);
  return [attributes, hashes.toSorted()];
}

describe("moving an Item", () => {
  it("takes all that it has, byte for byte, by the keyboard alone", async () => {
    const { page, path, target, all, list, titles } = await openItem(FILES);
    const before = await contentOf(all, path);
    await button(page, "More actions").focus();
    await pressKeys(page, "Enter", "Enter");
    await dialogOf(page).waitFor();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SELECT");
    expect(await checkAccessibility(page)).toBe("");
    await pressKeys(page, "Tab", "Tab", "Tab", "Enter");
    await moved(page);
    const [copy] = await list(target);
    expect(await contentOf(all, `v1/vaults/${target}/items/${copy!.id}`)).toEqual(before);
    expect(await titles()).toEqual([[], ["Key"]]);
    await page.waitForURL((url) => url.hash === `#/items/${target}/${copy!.id}`);
    await heading(page, "Key").waitFor();
    expect(await listed(page).count()).toBe(1);
  });

  it("that stopped at a File leaves the Item, and continues without a second copy", async () => {
    const { page, path, target, all, list, titles } = await openItem(FILES);
    const before = await contentOf(all, path);
    expectProblem(page, /Failed to load resource/);
    let uploads = 0;
    // The third upload is carried out, and its answer is lost as often as the request is sent.
    await page.route(/\/files(\?section=.*)?$/, async (route) => {
      if (++uploads < 3 || uploads > 5) return route.continue();
      await route.fetch();
      return route.abort("connectionreset");
    });
    await move(page);
    await see(page, "The item was not copied and has not moved.");
    expect(await contentOf(all, path)).toEqual(before);
    await confirm(page, "Try again");
    await moved(page);
    const [copy] = await list(target);
    expect(await contentOf(all, `v1/vaults/${target}/items/${copy!.id}`)).toEqual(before);
    expect(await titles()).toEqual([[], ["Key"]]);
  });

  it("that stopped at the deletion leaves both, and continues with the deletion", async () => {
    const { page, titles } = await openItem();
    expectProblem(page, /Failed to load resource/);
    const { end, requests } = await injectFault(page, "DELETE", "/v1/vaults/*/items/*", "network");
    await move(page);
    await see(page, "The copy in To is complete, but the item may still be in From.");
    expect(requests.length).toBeGreaterThan(0);
    expect(await titles()).toEqual([["Key"], ["Key"]]);
    end();
    await confirm(page, "Try again");
    await moved(page);
    expect(await titles()).toEqual([[], ["Key"]]);
  });

  it("that somebody else changes meanwhile keeps both", async () => {
    const { page, path, all, titles } = await openItem();
    const { requests, end } = await injectFault(page, "POST", UPLOADS, "held");
    await move(page);
    await expect.poll(() => requests.length).toBe(1);
    await sendRequest("PATCH", path, all, [{ op: "replace", path: "/title", value: "Theirs" }]);
    expectProblem(page, /412/);
    end();
    await see(page, "Someone else changed the item while it was copied");
    expect(await titles()).toEqual([["Theirs"], ["Key"]]);
    expect(await focused(page)).toBe("Keep both");
    await confirm(page, "Keep both");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await titles()).toEqual([["Theirs"], ["Key"]]);
  });

  it("that is cancelled deletes the incomplete copy", async () => {
    const { page, titles, target, all } = await openItem();
    const { requests, end } = await injectFault(page, "POST", UPLOADS, "held");
    await move(page);
    await expect.poll(() => requests.length).toBe(1);
    await confirm(page, "Cancel");
    await see(page, "The incomplete copy was deleted.");
    end();
    expect(await titles()).toEqual([["Key"], []]);
    expect(await sendRequest("GET", `v1/vaults/${target}/deleted-items`, all)).toHaveLength(1);
  });

  it("into a vault without room changes nothing, and says so", async () => {
    const { page, target, titles } = await openItem();
    await limitVault(target, { items: 0 });
    for (const status of [/507/, /404/]) expectProblem(page, status);
    await move(page);
    await see(page, "The vault is full");
    // A copy could have been made, and is deleted.
    const refused = page.waitForEvent("console", (message) => message.text().includes("404"));
    await confirm(page, "Cancel");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await refused;
    expect(await titles()).toEqual([["Key"], []]);
  });
});

describe("copying an Item", () => {
  it("is all that is offered to those who may not write to its vault, on a phone in the dark", async () => {
    const { page, titles } = await openItem(SMALL, { from: "r", width: 390, height: 780, colorScheme: "dark" });
    await choose(page, "Move or copy…");
    const dialog = dialogOf(page);
    await dialog.getByRole("combobox").waitFor();
    expect(await dialog.getByRole("option").allInnerTexts()).toEqual(["To"]);
    expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["×", "Cancel", "Copy"]);
    expect(await checkAccessibility(page, "look")).toBe("");
    await confirm(page, "Copy");
    await toast(page, "Copied").waitFor();
    expect(await titles()).toEqual([["Key"], ["Key"]]);
  });

  it("is offered in its own vault", async () => {
    const { page, titles } = await openItem(SMALL, { to: "r" });
    await move(page, "Copy");
    await toast(page, "Copied").waitFor();
    expect(await titles()).toEqual([["Key", "Key"], []]);
  });
});
