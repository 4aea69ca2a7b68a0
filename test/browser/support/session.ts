import type { Page } from "playwright-core";
import { inject } from "vitest";
import { sendRequest } from "../../sdk/support/requests.ts";

/** Sessions of the console (contract 24). */

/** What a request by the console carries, besides the cookie. */
export const CONSOLE_HEADERS = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" } as const;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

/** Makes a session by the API. Returns its cookie, as Playwright takes it. */
export async function sessionCookie(body: { readonly token?: string; readonly code?: string }): Promise<Cookie> {
  const response = await fetch(new URL("console/session", inject("url")), {
    method: "POST",
    headers: { ...CONSOLE_HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const [cookie = ""] = response.headers.getSetCookie();
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
  if (name === undefined || value === undefined) throw new Error(`No session: ${response.status} ${await response.text()}`);
  return { name, value, url: inject("url") };
}

/** A one-time code for a token, or for the administrator. */
async function makeCode(token: string): Promise<string> {
  const path = token === inject("secrets").ADMIN_TOKEN ? "v1/admin/sign-in-codes" : "v1/sign-in-codes";
  const { code } = (await sendRequest("POST", path, token)) as { code: string };
  return code;
}

/** A link as `npm start` prints it: it signs in once, with a code for each token. */
export const signInLink = async (...tokens: readonly string[]): Promise<string> =>
  `/console/#sign-in=${(await Promise.all(tokens.map(makeCode))).join(".")}`;

/**
 * Signs in as a person does who opens such a link: with one token, or with one and ADMIN_TOKEN. Ends when the page shows the console,
 * without what it tells of the link.
 */
export async function signIn(page: Page, ...tokens: readonly string[]): Promise<void> {
  await page.goto(await signInLink(...tokens));
  await page.getByRole("complementary").getByRole("button", { name: "Dismiss" }).click();
}

/** Signs out by the menu of the account. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
}
