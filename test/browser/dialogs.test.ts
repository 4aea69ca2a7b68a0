import { expect, inject, it } from "vitest";
import { makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { coveredButtons } from "./support/layout.ts";
import { openPage } from "./support/page.ts";
import { acceptDialogs } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { viewsOf } from "./support/views.ts";

/** Every dialog can be read and pressed, at each width and in both looks, and Escape closes it or asks. */

const SIZES = [
  { width: 390, height: 780 },
  { width: 1024, height: 780 },
  { width: 1440, height: 900 },
] as const;

/** Milliseconds. Some dialogs list all vaults of the service, of which other files have made a hundred where all run. */
const DIALOGS_TIMEOUT = 900_000;

it(
  "every dialog fits into the window, has no fault that axe finds, and ends by Escape",
  async () => {
    const [vault, other] = [await makeVault("Team"), await makeVault("Other")];
    const { token } = await makeToken({ [vault]: "rwd", [other]: "rwd" }, "uuid");
    const otp = { id: "otp", type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" };
    const [item] = await makeItems(token, vault, [
      { ...login("Grafana"), fields: [...(login("Grafana")["fields"] as object[]), otp] },
      login("Wiki"),
    ]);
    const page = await openPage();
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    acceptDialogs(page); // The browser's question about what was typed.
    const readyOf = new Map(viewsOf({ vault, item: item!, deleted: "" }).map(([, path, ready]) => [path, ready]));
    const faults: Record<string, unknown> = {};
    for (const [name, path, open] of dialogsOf({ vault, item: item! })) {
      await page.setViewportSize(SIZES[1]);
      await page.goto("about:blank");
      await page.goto(`/console/#/${path}`);
      await page.locator(readyOf.get(path)!).first().waitFor();
      await open(page);
      await page.locator("dialog:modal").waitFor();
      await expect.poll(() => page.locator("dialog:modal [aria-busy=true]").count()).toBe(0);
      const found: string[] = [];
      for (const size of SIZES) {
        await page.setViewportSize(size);
        found.push(...(await coveredButtons(page)).map((button) => `${size.width}: covered: ${button}`));
        const { width, sideways } = await page.locator("dialog:modal").evaluate((dialog) => ({
          width: dialog.getBoundingClientRect().right,
          sideways: dialog.scrollWidth > dialog.clientWidth,
        }));
        if (width > size.width || sideways) found.push(`${size.width}: does not fit`);
      }
      const violations = await checkLooks(page);
      if (violations !== "") found.push(violations);
      await page.keyboard.press("Escape");
      if (await page.locator("dialog:modal").count()) await page.keyboard.press("Escape");
      if (await page.locator("dialog:modal").count()) found.push("Escape does not close it");
      if (found.length > 0) faults[name] = found;
    }
    expect(faults).toEqual({});
  },
  DIALOGS_TIMEOUT,
);
