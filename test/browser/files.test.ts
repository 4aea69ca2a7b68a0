import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility } from "./support/accessibility.ts";
import { injectFault, limitVault } from "./support/faults.ts";
import { startPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";

/** Files of an Item in the console: added, shown, saved, replaced and deleted. */

/** The tests share a page, which may write to one vault and read another one. */
let page: Page;
/** Writes to both vaults. */
let token: string;
/** The token of the session of the page. */
let sessionToken: string;
const vaults = { rw: "", r: "" };

beforeAll(async () => {
  for (const permission of ["rw", "r"] as const) vaults[permission] = await makeVault(permission);
  token = (await makeToken({ [vaults.rw]: "rw", [vaults.r]: "rw" }, "uuid")).token;
  sessionToken = (await makeToken({ [vaults.rw]: "rw", [vaults.r]: "r" }, "uuid")).token;
  const { page: opened, close } = await startPage({ token: sessionToken });
  page = opened;
  await page.goto("/console/");
  return close;
});

/** Makes an Item with Files and opens it. `files`: their names and contents. Returns the path of the Item. */
async function openItem(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  permission: "r" | "rw" = "rw",
): Promise<string> {
  const vault = vaults[permission];
  const [item] = await makeItems(token, vault, [login("GitHub")]);
  const path = `v1/vaults/${vault}/items/${item}`;
  for (const [name, bytes] of Object.entries(files))
    await sendRequest("POST", `${path}/files?name=${encodeURIComponent(name)}`, token, bytes);
  await page.goto(`/console/#/items/${vault}/${item}`);
  await page.getByRole("heading", { name: "Files" }).waitFor();
  return path;
}

interface Stored {
  readonly id: string;
  readonly name: string;
}

const stored = async (path: string): Promise<Stored[]> => (await sendRequest("GET", `${path}/files`, token)) as Stored[];

async function content(path: string, { id }: Stored): Promise<Buffer> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(new URL(`${path}/files/${id}/content`, inject("url")), { headers });
  return Buffer.from(await response.arrayBuffer());
}

/** Chooses files as a person does in the dialog of the browser. */
async function choose(button: string, ...files: readonly (readonly [name: string, content: string])[]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button }).click();
  await (await chooser).setFiles(files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
}

/** Drops files onto the Item. In: an expression of the page, an array of File. */
const drop = (files: string): Promise<void> =>
  page.evaluate(`{
    const dataTransfer = new DataTransfer();
    for (const file of ${files}) dataTransfer.items.add(file);
    for (const type of ["dragover", "drop"])
      document.querySelector("article h1").dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }`);

const rows = () => page.getByRole("region", { name: "Files" }).getByRole("listitem");
const names = () => page.locator(".file bdi").allTextContents();
const html = () => page.evaluate<string>("document.documentElement.outerHTML");
const openMenu = (name: string) => page.getByRole("button", { name: `More actions for ${name}`, exact: true }).click();

describe("adding", () => {
  /** Markup, 200 characters, a character that reverses the direction, characters of other alphabets, and a name twice. */
  const NAMES = [
    "<img src=x onerror=alert(1)>.txt",
    "n".repeat(200),
    "\u202Egnp.exe",
    "schlüssel '(*) 🔑%41.txt",
    "same",
    "same",
  ];

  it("by a button stores several files, with any names, which no address contains", async () => {
    const place = await openItem();
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    await choose("Add files", ...NAMES.map((name, index) => [name, `content ${index}`] as const));
    await page.getByText("6 files added.").waitFor();
    const files = await stored(place);
    expect(files.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
    expect(await names()).toEqual(files.map(({ name }) => name.replace("\u202e", "[U+202E]")));
    const contents = await Promise.all(files.map((file) => content(place, file)));
    expect(contents.map(String).toSorted()).toEqual(NAMES.map((_, index) => `content ${index}`));
    expect(urls.filter((url) => /same|img|gnp|nnn/.test(url))).toEqual([]);
    await page.getByText("version 7").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await checkAccessibility(page)).toBe("");
  });

  it("by dropping onto the Item stores the bytes, and the file is saved byte for byte", async () => {
    const place = await openItem();
    // Random bytes, larger than what is saved without showing its progress.
    await page.evaluate(`window.bytes = new Uint8Array(2_500_000);
      for (let at = 0; at < bytes.length; at += 50_000) crypto.getRandomValues(bytes.subarray(at, at + 50_000));`);
    const { requests, end } = await injectFault(page, "POST", "/v1/vaults/*/items/*/files", "held");
    await drop(`[new File([bytes], "data.bin"), new File([], "empty")]`);
    await page.getByRole("progressbar", { name: "Upload of data.bin" }).waitFor();
    await page.getByText("Waiting…").waitFor();
    await expect.poll(() => requests.length).toBe(1);
    end();
    await page.getByText("2 files added.").waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download data.bin" }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe("data.bin");
    const bytes = await readFile(await saved.path());
    const sent = Buffer.from(await page.evaluate<string>("bytes.toBase64()"), "base64");
    expect(bytes.equals(sent)).toBe(true);
    const file = (await stored(place)).find(({ name }) => name === "data.bin")!;
    expect((await content(place, file)).equals(sent)).toBe(true);
  });

  it("is cancelled, and what waits is sent then", async () => {
    const place = await openItem();
    const { requests, end } = await injectFault(page, "POST", "/v1/vaults/*/items/*/files", "held");
    await choose("Add files", ["first", "1"], ["second", "2"]);
    await expect.poll(() => requests.length).toBe(1);
    const cancelled = page.waitForEvent("requestfailed");
    await page.getByRole("button", { name: "Cancel Upload of first" }).click();
    await cancelled;
    end();
    await page.getByText("“second” added.").waitFor();
    expect((await stored(place)).map(({ name }) => name)).toEqual(["second"]);
  });

  it("of a file above the limit sends nothing", async () => {
    await openItem();
    const { requests, end } = await injectFault(page, "POST", "/v1/**", "network");
    await drop(`[new File(Array(101).fill(new Uint8Array(1_000_000)), "huge")]`);
    await page.getByRole("alert").getByText("It is larger than 100 MB, the limit for files.").waitFor();
    await page.getByRole("button", { name: "Dismiss huge" }).click();
    await expect.poll(() => rows().count()).toBe(0);
    expect(requests).toEqual([]);
    end();
  });

  it("to a full vault says so, and works on the next try when there is room", async () => {
    const place = await openItem();
    expectProblem(page, /507/);
    await limitVault(vaults.rw, { fileBytes: 1 });
    await choose("Add files", ["large", "12345"]);
    await page.getByRole("alert").getByText("The vault is full").waitFor();
    await limitVault(vaults.rw, { fileBytes: 10 ** 10 });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("“large” added.").waitFor();
    expect(await stored(place)).toHaveLength(1);
  });

  it("whose answer was lost makes one File when it is tried again", async () => {
    const place = await openItem();
    expectProblem(page, /Failed to load resource/);
    // The service gets the request, and the page no answer.
    await page.route(
      /files$/,
      async (route) => {
        const { "idempotency-key": key, "content-disposition": name } = route.request().headers();
        const headers = { Authorization: `Bearer ${sessionToken}`, "Idempotency-Key": key!, "Content-Disposition": name! };
        await fetch(route.request().url(), { method: "POST", headers, body: "1" });
        await route.abort("connectionreset");
      },
      { times: 1 },
    );
    await choose("Add files", ["once", "1"]);
    await page.getByRole("alert").getByText("The service did not answer").waitFor();
    expect(await checkAccessibility(page)).toBe("");
    expect(await stored(place)).toHaveLength(1);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("“once” added.").waitFor();
    expect(await stored(place)).toHaveLength(1);
  });
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("a preview", () => {
  const CANARY = "canary-7f3a9c";

  it("shows a text, whose content is not in the page before and after it, and gives the focus back", async () => {
    await openItem({ "notes.txt": CANARY });
    expect(await html()).not.toContain(CANARY);
    const button = page.getByRole("button", { name: "Preview notes.txt" });
    await button.press("Enter");
    await page.getByText(CANARY).waitFor();
    expect(await checkAccessibility(page)).toBe("");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await html()).not.toContain(CANARY);
    expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  });

  it("shows an image by its content, and frees it when it is closed", async () => {
    await openItem({ "picture.txt": PNG });
    await page.getByRole("button", { name: "Preview picture.txt" }).click();
    const image = page.getByRole("img", { name: "picture.txt" });
    await expect.poll(() => image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    const url = await image.getAttribute("src");
    expect(url).toMatch(/^blob:/);
    await page.getByRole("button", { name: "Close" }).click();
    await image.waitFor({ state: "detached" });
    expectProblem(page, /blob:/);
    // Each time with another fragment, because the browser may have kept the image of the address before.
    let attempts = 0;
    const load = () =>
      page.evaluate(`new Promise((done) => {
        const image = new Image();
        image.onload = () => done("loaded");
        image.onerror = () => done("freed");
        image.src = ${JSON.stringify(`${url}#${++attempts}`)};
      })`);
    await expect.poll(load).toBe("freed");
  });

  it("of HTML and SVG shows their source, and nothing of them runs", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>';
    const sources = {
      "page.html": "<!doctype html><script>alert(1)</script><img src=x onerror=alert(2)>",
      "drawing.svg": svg,
      "drawing.png": svg,
    };
    await openItem(sources);
    for (const [name, source] of Object.entries(sources)) {
      await page.getByRole("button", { name: `Preview ${name}` }).click();
      await page.getByText(source).waitFor();
      expect(await page.locator("dialog :is(img, svg, script, iframe, object, embed)").count()).toBe(0);
      await page.keyboard.press("Escape");
    }
  });

  it("of other contents says that there is none, without loading all of a large one", async () => {
    await openItem({ "a.zip": "PK\x03\x04\0\0", "long.txt": "x".repeat(300_000) });
    await page.getByRole("button", { name: "Preview a.zip" }).click();
    await page.getByText("No preview available for this kind of file.").waitFor();
    await page.keyboard.press("Escape");
    const answered = page.waitForResponse(/content$/);
    await page.getByRole("button", { name: "Preview long.txt" }).click();
    await page.getByText("This text is larger than 256 KB.").waitFor();
    expect((await answered).headers()["content-length"]).toBe(String(256 * 1024));
    await page.keyboard.press("Escape");
  });
});

describe("a File", () => {
  it("is replaced, keeps its name, and is deleted after a question", async () => {
    const place = await openItem({ "ca.pem": "old" });
    await page.setViewportSize({ width: 390, height: 780 });
    await page.emulateMedia({ colorScheme: "dark" });
    await openMenu("ca.pem");
    await choose("Replace content…", ["other name", "new content"]);
    await page.getByText("“ca.pem” replaced.").waitFor();
    await page.getByText("11 bytes").waitFor();
    const [file] = await stored(place);
    expect(file!.name).toBe("ca.pem");
    expect(String(await content(place, file!))).toBe("new content");
    await openMenu("ca.pem");
    expect(await checkAccessibility(page)).toBe("");
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog", { name: "Delete file" }).getByText("Delete ca.pem?").waitFor();
    expect(await checkAccessibility(page)).toBe("");
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(() => names()).toEqual([]);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Files");
    expect(await stored(place)).toEqual([]);
  });

  it("is only read by a session that may not write", async () => {
    await openItem({ "ca.pem": "text" }, "r");
    await openMenu("ca.pem");
    expect(await page.locator(":popover-open button").allTextContents()).toEqual(["Copy reference"]);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("button", { name: "Add files" }).count()).toBe(0);
    await drop(`[new File(["x"], "dropped")]`);
    expect(await rows().count()).toBe(1);
  });
});
