import { expect, it } from "vitest";
import { checkAccessibility } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { otherOrigin } from "./support/other-origin.ts";
import { openPage, serviceOrigin, startPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";

/** What fails a browser test by itself, and what a test leaves to the next one. */

/** A text below /console/, whose headers let the browser keep the process of an idle page (support/page.ts). */
const PLAIN = "/console/LICENSES.txt";

/** What a page does, the event of Playwright that tells of it, and the problem. */
const PROBLEMS = [
  ["writes to the console", "console.log('text')", "console", "console.log: text"],
  ["throws", "setTimeout(() => { throw new Error('thrown') })", "pageerror", "error: Error: thrown"],
  [
    "violates its policy",
    "document.body.append(Object.assign(new Image(), { src: 'data:,x' }))",
    "console",
    "Content Security Policy",
  ],
  ["opens an alert", "alert('shown')", "dialog", "alert: shown"],
] as const;

it.each(PROBLEMS)("a page that %s fails its test", async (_, script, event, problem) => {
  const { page, close } = await startPage();
  await page.goto(problem.includes("Policy") ? "/docs/style.css" : PLAIN);
  const happened = page.waitForEvent(event as "console");
  await page.evaluate(script);
  await happened;
  await expect(close()).rejects.toThrow(problem);
});

it("a page that sends a request to another origin fails its test", async () => {
  const { sameSite, received } = await otherOrigin("<!doctype html><title>Other</title>");
  const { page, close } = await startPage();
  await page.goto(sameSite);
  expect(received).toContain("GET /");
  await expect(close()).rejects.toThrow(`request: GET ${sameSite}/`);
});

it("an expected problem does not fail the test, and one that does not happen does", async () => {
  const [first, second] = [await startPage(), await startPage()];
  for (const { page } of [first, second]) expectProblem(page, /^console\.warning: known$/);
  await first.page.evaluate("console.warn('known')");
  await first.close();
  await expect(second.close()).rejects.toThrow("no problem matches");
});

it("a page that is used again has no cookie, storage, route or expectation of the test before", async () => {
  const { page, close } = await startPage();
  await page.context().addCookies([{ name: "a", value: "b", url: serviceOrigin() }]);
  await page.route("**/health", (route) => route.fulfill({ status: 200, body: "a fault" }));
  await page.goto(PLAIN);
  await page.evaluate(
    "localStorage.a = sessionStorage.a = 'b'; addEventListener('beforeunload', (event) => event.preventDefault())",
  );
  expectProblem(page, /^console\.warning: known$/);
  await page.evaluate("console.warn('known')");
  await close();
  const again = await startPage();
  expect(again.page).toBe(page);
  await page.goto(PLAIN);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("[localStorage.length, sessionStorage.length]")).toEqual([0, 0]);
  expect(await page.evaluate("fetch('/health').then((response) => response.text())")).not.toBe("a fault");
  await page.evaluate("console.warn('known')");
  await expect(again.close()).rejects.toThrow("console.warning: known");
});

it("axe names an element without a name", async () => {
  const page = await openPage({ fresh: true }); // An idle page has a policy.
  await page.setContent("<!doctype html><html lang=en><title>T</title><main><h1>T</h1><button></button></main>");
  expect(await checkAccessibility(page)).toMatch(/^button-name \(critical\): .*\n {2}button\n {4}<button><\/button>/);
});

it("no stylesheet depends on the orientation of the screen, which axe is not asked to check", async () => {
  const page = await (await fetch(`${serviceOrigin()}/console/`)).text();
  const [style] = /\/console\/assets\/main-\w+\.css/.exec(page)!;
  for (const path of [style, "/docs/style.css"])
    expect(await (await fetch(serviceOrigin() + path)).text()).not.toContain("orientation");
});

it("the clipboard can be written by a page and read by a test only", async () => {
  const page = await openPage();
  await page.goto(PLAIN);
  await page.evaluate("navigator.clipboard.writeText('x')");
  expect(await readClipboard(page)).toBe("x");
  expect(await page.evaluate("navigator.clipboard.readText().catch((error) => error.name)")).toBe("NotAllowedError");
});
