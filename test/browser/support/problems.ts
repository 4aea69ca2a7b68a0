import type { BrowserContext, ConsoleMessage, Page } from "playwright-core";

/**
 * What a page must not do: write to the console, throw, violate its policy, open a dialog of the browser, or send a request to another
 * origin.
 * Chromium reports a violation of a policy, and an answer with an error status, as messages of the console.
 */

interface Watched {
  readonly origins: readonly string[];
  readonly problems: string[];
  readonly expected: RegExp[];
  readonly allowed: RegExp[];
  /** The addresses asked for since. An answer to a request of the test before, which arrives late, is no problem of this one. */
  readonly requested: Set<string>;
}

const watched = new WeakMap<BrowserContext, Watched>();
const accepting = new WeakSet<Page>();

/** Schemes of requests that stay in the browser. */
const LOCAL = /^(?:data|blob|about):/;

/**
 * What Chromium reports of requests that the page sends by itself: a page without a session asks for one; the stream of events ends with
 * the session or the connection; the vaults are asked for while a sign-in replaces the session; and another test may delete a vault after the
 * view of webhooks has listed it.
 */
const USUAL = [
  /^console\.error: Failed to load resource: .* 401 .*\/(?:console\/session|v1\/vaults)\)$/,
  /^console\.error: Failed to load resource: .*\/v1\/events\?after=latest\)$/,
  /^console\.error: Failed to load resource: .* 404 .*\/v1\/admin\/vaults\/[^/]+\/webhooks\)$/,
];
const FAILED_REQUEST = "console.error: Failed to load resource: ";
const isUsual = (problem: string): boolean => USUAL.some((pattern) => pattern.test(problem));

/**
 * Begins to collect, without what a test before has collected of the same context. `origins`: those to which requests may go, without a
 * slash at the end; by default those of before.
 */
export function watchProblems(context: BrowserContext, origins = watched.get(context)?.origins ?? []): void {
  const known = watched.has(context);
  watched.set(context, { origins, problems: [], expected: [], allowed: [], requested: new Set() });
  for (const page of context.pages()) accepting.delete(page);
  if (!known) listen(context);
}

function listen(context: BrowserContext): void {
  const add = (problem: string): unknown => watched.get(context)!.problems.push(problem);
  context.on("console", (message) => {
    const problem = presentMessage(message);
    const { url } = message.location();
    const isLate = problem.startsWith(FAILED_REQUEST) && !LOCAL.test(url) && !watched.get(context)!.requested.has(url);
    if (!isLate && !isUsual(problem)) add(problem);
  });
  context.on("weberror", (error) => add(`error: ${error.error().stack ?? error.error().message}`));
  context.on("request", (request) => {
    const url = request.url();
    const { origins, requested } = watched.get(context)!;
    requested.add(url);
    if (!LOCAL.test(url) && !origins.includes(new URL(url).origin)) add(`request: ${request.method()} ${url}`);
  });
  const watchPage = (page: Page): void => {
    page.on("crash", () => add("crash: the page has crashed"));
    page.on("dialog", (dialog) => {
      const accepts = accepting.has(page) && dialog.type() !== "alert";
      if (!accepts) add(`${dialog.type()}: ${dialog.message()}`);
      return accepts ? dialog.accept() : dialog.dismiss();
    });
  };
  context.pages().forEach(watchPage);
  context.on("page", watchPage);
}

/** Accepts the page's dialogs, for example the browser's question about unsaved changes. An alert is a problem still. */
export const acceptDialogs = (page: Page): void => void accepting.add(page);

const presentMessage = (message: ConsoleMessage): string => {
  const { url } = message.location();
  return `console.${message.type()}: ${message.text()}${url === "" ? "" : ` (${url})`}`;
};

/** Allows the problems of a page whose text matches. The test fails if there is none when it ends. */
export const expectProblem = (page: Page, pattern: RegExp): void => void watched.get(page.context())!.expected.push(pattern);

/** Allows the problems of a page whose text matches, which depend on the time that a request takes. */
export const allowProblem = (page: Page, pattern: RegExp): void => void watched.get(page.context())!.allowed.push(pattern);

/** The problems so far that are not expected, and the expected ones that did not happen. */
function problemsOf(context: BrowserContext): string[] {
  const { problems, expected, allowed } = watched.get(context)!;
  const missing = expected.filter((pattern) => !problems.some((problem) => pattern.test(problem)));
  return [
    ...problems.filter((problem) => ![...expected, ...allowed].some((pattern) => pattern.test(problem))),
    ...missing.map((pattern) => `no problem matches ${pattern.source}`),
  ];
}

/** The same after the messages of the console that are under way. Errors: throws when there is a problem. */
export async function failOfProblems(page: Page): Promise<void> {
  await page.evaluate("0").catch(() => undefined);
  const problems = problemsOf(page.context());
  if (problems.length > 0) throw new Error(`The page had problems:\n${problems.join("\n")}`);
}
