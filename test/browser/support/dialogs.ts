import type { Page } from "playwright-core";
import type { Addressed } from "./views.ts";

/** The dialogs of the console that tests open one after the other: the address below which each is, and what a person does to open it. */

type Open = (page: Page) => Promise<void>;

/** Presses buttons by their names, of several with one name the first. */
const press =
  (...names: readonly string[]): Open =>
  async (page) => {
    for (const name of names) await page.getByRole("button", { name, exact: true }).first().click();
  };

/** Chooses an act in the panel of the first row of a table. */
const inRow =
  (label: string): Open =>
  async (page) => {
    await page.locator(".row-name").first().click();
    await page.locator(".panel button", { hasText: label }).click();
  };

/** Selects the first Item of the list, and then presses buttons. */
const selected =
  (...names: readonly string[]): Open =>
  async (page) => {
    await page.locator(".rows [data-selects]").first().click();
    await press(...names)(page);
  };

async function leave(page: Page): Promise<void> {
  await page.getByLabel("Title").fill("Typed");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
}

async function showKeys(page: Page): Promise<void> {
  await page.locator("main h1").first().click();
  await page.keyboard.press("?");
}

export const dialogsOf = ({
  vault,
  item,
}: Pick<Addressed, "vault" | "item">): readonly (readonly [name: string, path: string, open: Open])[] => {
  const itemPath = `items/${vault}/${item}`;
  return [
    ["find", "items", (page) => page.keyboard.press("Control+K")],
    ["keys", itemPath, showKeys],
    ["delete an Item", itemPath, press("More actions", "Delete…")],
    ["move an Item", itemPath, press("More actions", "Move or copy…")],
    ["rotated", itemPath, press("More actions for password", "Rotate")],
    ["QR code", itemPath, press("More actions for one-time password", "Show as QR code")],
    ["generate", `${itemPath}/edit`, press("Generate password")],
    ["leave a form", `${itemPath}/edit`, leave],
    ["tag several Items", "items", selected("Tag…")],
    ["move several Items", "items", selected("Move…")],
    ["delete several Items", "items", selected("More actions for the selected items", "Delete…")],
    ["create a vault", "vaults", press("Create vault")],
    ["edit a vault", "vaults", inRow("Edit")],
    ["delete a vault", "vaults", inRow("Delete")],
    ["issue a token", "tokens", press("Issue token")],
    ["revoke a token", "tokens", inRow("Revoke")],
    ["invite a person", "people", press("Invite person")],
    ["add an issuer", "workloads", press("Add issuer")],
    ["add a webhook", "webhooks", press("Add webhook")],
    ["back up", "backups", press("Back up now…")],
    ["restore", "backups", press("Restore…")],
    ["verify", "backups", press("Verify…")],
    ["rewrap", "keys", press("Re-wrap all keys with the active root key")],
  ];
};
