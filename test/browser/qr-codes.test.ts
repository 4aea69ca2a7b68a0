import type { Page } from "playwright-core";
import { encodeQR } from "qr";
import { decodeQR } from "qr/decode.js";
import { describe, expect, it } from "vitest";
import { checkLooks } from "./support/accessibility.ts";
import { button, dialogOf, htmlOf, link, openItem, press, see, toast } from "./support/console.ts";

/** Keys of one-time passwords as QR codes: drawn, and read from pictures. */

const URI = "otpauth://totp/Acme:ada@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme&period=60";
const OTHER = "otpauth://totp/Old?secret=GEZDGNBVGY3TQOJQ";
const otp = (label: string, value: string) => ({ id: label, label, type: "OTP", value });

/** A page with an Item that has a key to show, and another one to be replaced. */
const openKeys = (tab?: string) => openItem([{ title: "Keys", fields: [otp("shown", URI), otp("other", OTHER)] }], { tab });

/** A GIF file of one pixel. */
const EMPTY = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

async function showCode(page: Page, label: string) {
  await press(page, `More actions for ${label}`, "Show as QR code");
  const dialog = dialogOf(page, `QR code of ${label}`);
  await dialog.waitFor();
  return dialog;
}

/** A GIF file with a text as a QR code, with pixels of each module. */
const gifOf = (text: string, scale = 4): Buffer => Buffer.from(encodeQR(text, "gif", { scale, border: 4 }));

/** The ways to give a picture to the field `other` of the form. */
const WAYS: Readonly<Record<string, (page: Page, picture: Buffer, type: string) => Promise<void>>> = {
  chosen: async (page, buffer, mimeType) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Read QR code for other" }).click();
    await (await chooser).setFiles({ name: "code", mimeType, buffer });
  },
  pasted: (page, picture, type) => dispatch(page, picture, type, "paste"),
  dropped: (page, picture, type) => dispatch(page, picture, type, "drop"),
};

/** Sends the event of a person who pastes or drops a file: Playwright has no file of another program. */
const dispatch = (page: Page, picture: Buffer, type: string, event: "paste" | "drop"): Promise<void> =>
  page.getByLabel("other", { exact: true }).evaluate(
    (element, [text, mimeType, name]) => {
      const files = new DataTransfer();
      const bytes = Uint8Array.from(atob(text!), (character) => character.charCodeAt(0));
      files.items.add(new File([bytes], "code", { type: mimeType! }));
      const init = { bubbles: true, cancelable: true };
      const made =
        name === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: files })
          : new DragEvent("drop", { ...init, dataTransfer: files });
      element.dispatchEvent(made);
    },
    [picture.toString("base64"), type, event],
  );

const valueOf = (page: Page) => page.getByLabel("other", { exact: true }).inputValue();

describe("a QR code", () => {
  it("is drawn for a key when asked, is read back from its picture, and leaves nothing in the page", async () => {
    const { page, load } = await openKeys();
    const dialog = await showCode(page, "shown");
    await page.emulateMedia({ colorScheme: "dark" });
    const picture = await dialog.getByRole("figure").screenshot();
    const drawing = await dialog.locator("path").getAttribute("d");
    await press(dialog, "Done");
    await expect.poll(() => dialog.count()).toBe(0);
    for (const secret of [drawing!, "JBSWY3DP"]) expect(await htmlOf(page)).not.toContain(secret);
    await link(page, "Edit").click();
    await WAYS["chosen"]!(page, picture, "image/png");
    await see(page, "QR code read into other");
    await press(page, "Save");
    await toast(page, "Saved").waitFor();
    expect((await load()).fields.map(({ value }) => value)).toEqual([URI, URI]);
  });

  it.each(Object.entries(WAYS))("is read from a picture that is %s, which no request and no address has", async (_, give) => {
    const { page } = await openKeys("edit");
    await button(page, "Read QR code for other").waitFor();
    expect(await checkLooks(page)).toBe("");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await give(page, gifOf(URI), "image/gif");
    await expect.poll(() => valueOf(page)).toBe(URI);
    await page.getByText("QR code read into other").waitFor();
    expect(requests.filter((request) => !/^GET \/(console\/assets\/[\w-]+\.js|v1\/events)$/.test(request))).toEqual([]);
  });

  it("is read also where its modules are one pixel each, or its ground is transparent", async () => {
    const { page } = await openKeys("edit");
    await WAYS["chosen"]!(page, gifOf(URI, 1), "image/gif");
    await expect.poll(() => valueOf(page)).toBe(URI);
    const png = await transparentPng(page, encodeQR(OTHER, "raw", { border: 4 }));
    await WAYS["pasted"]!(page, png, "image/png");
    await expect.poll(() => valueOf(page)).toBe(OTHER);
  });

  const NO_KEY = "The QR code in this picture has no one-time password key.";
  const UNREADABLE = "Your browser can’t read this picture: it is damaged or of an unknown kind.";
  it.each([
    ["an address", gifOf("https://example.com/secret-text"), NO_KEY],
    ["a key of counted codes", gifOf("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1"), NO_KEY],
    ["a bare word", gifOf("JBSWY3DPEHPK3PXP"), NO_KEY],
    ["no code", Buffer.from(EMPTY, "base64"), "No QR code was found in this picture."],
    ["damaged bytes", gifOf(URI).subarray(0, 400), UNREADABLE],
    ["a text", Buffer.from("text"), UNREADABLE],
  ])("with %s changes nothing, and the message has nothing of it", async (_, picture, message) => {
    const { page } = await openKeys("edit");
    await WAYS["chosen"]!(page, picture, "image/gif");
    await page.getByText(message).waitFor();
    expect(await valueOf(page)).toBe(OTHER);
    expect(await htmlOf(page)).not.toContain("secret-text");
  });

  it("of a long title or user name stays coarse enough to be scanned, with the secret and the other parameters as they are", async () => {
    const [title, user] = ["Öffentliche Verwaltung: Zugang ".repeat(20), "名前".repeat(100)];
    const names = `${encodeURIComponent("Anbieter ÖÄÜ".repeat(20))}:${"ada".repeat(80)}`;
    const long = `otpauth://totp/${names}?secret=JBSWY3DPEHPK3PXP&issuer=${names.split(":")[0]}&period=60&digits=8`;
    const username = { id: "user", purpose: "USERNAME", type: "STRING", value: user };
    const { page } = await openItem([{ title, fields: [username, otp("bare", "JBSW Y3DP EHPK 3PXP"), otp("uri", long)] }]);
    for (const [label, expected] of [
      ["bare", { secret: "JBSWY3DPEHPK3PXP" }],
      ["uri", { secret: "JBSWY3DPEHPK3PXP", period: "60", digits: "8" }],
    ] as const) {
      const dialog = await showCode(page, label);
      const side = Number((await dialog.locator("svg").getAttribute("viewBox"))!.split(" ")[2]);
      expect(side).toBeLessThanOrEqual(57 + 2 * 4);
      const text = decodeQR(pixelsOf((await dialog.locator("path").getAttribute("d"))!, side));
      const { issuer, ...rest } = Object.fromEntries(new URL(text).searchParams);
      expect(rest).toEqual(expected);
      expect(issuer).toMatch(/^Öffent/);
      await press(dialog, "Done");
    }
  });

  it("of a key that is too long is not drawn, and that is said", async () => {
    const { page } = await openItem([{ title: "Keys", fields: [otp("shown", "A".repeat(4000))] }]);
    const dialog = await showCode(page, "shown");
    await see(dialog, "This key is too long for a QR code.");
    expect(await dialog.getByRole("figure").count()).toBe(0);
  });
});

/** The pixels of a code that is drawn as a path of SVG, 8 of them for a module. */
function pixelsOf(path: string, side: number): { width: number; height: number; data: Uint8Array } {
  const scale = 8;
  const width = side * scale;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, left, top, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g))
    for (let y = Number(top) * scale; y < (Number(top) + 1) * scale; y++)
      for (let x = Number(left) * scale; x < (Number(left) + Number(length)) * scale; x++)
        data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  return { width, height: width, data };
}

/** A PNG file with the dark modules only. */
async function transparentPng(page: Page, rows: readonly (readonly boolean[])[]): Promise<Buffer> {
  const text = await page.evaluate(async (modules) => {
    const canvas = new OffscreenCanvas(modules.length * 4, modules.length * 4);
    const context = canvas.getContext("2d")!;
    for (const [y, row] of modules.entries())
      for (const [x, dark] of row.entries()) if (dark) context.fillRect(x * 4, y * 4, 4, 4);
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  }, rows);
  return Buffer.from(text, "base64");
}
