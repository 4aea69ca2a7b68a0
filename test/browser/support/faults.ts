import type { Page, Route } from "playwright-core";
import { onTestFinished } from "vitest";
import { admin } from "../../sdk/support/requests.ts";

/** What a person meets besides answers of 200: faults of the network, which Playwright injects, and refusals of the service. */

/**
 * `lost`: the answer is lost after the service has carried the request out. `late`: it arrives when the fault ends. `held`: the request is
 * not sent until the fault ends.
 */
export type Fault = "network" | "lost" | "late" | "held" | { readonly status: number; readonly kind?: string };

export interface Injected {
  /** `GET /v1/vaults`, for each request that met the fault. */
  readonly requests: readonly string[];
  /** Resolves when the service has answered a request whose answer is late. */
  readonly answered: Promise<void>;
  /** Ends the fault, and sends the requests that it holds. */
  readonly end: () => void;
}

/**
 * Lets the page's requests with this method and path meet a fault. `path`: `*` stands for one part, `**` for the rest.
 * The query does not matter.
 */
export async function injectFault(page: Page, method: string, path: string, fault: Fault): Promise<Injected> {
  const requests: string[] = [];
  const { promise: ended, resolve: release } = Promise.withResolvers<void>();
  const { promise: answered, resolve: onAnswer } = Promise.withResolvers<void>();
  const pattern = patternOf(path);
  let over = false;
  // The route stays when the fault has ended: page.unroute would send requests that are held, and their handlers would do it again.
  await page.route(
    (url) => pattern.test(url.pathname),
    (route) => {
      const request = route.request();
      if (over || request.method() !== method) return route.fallback();
      requests.push(`${method} ${new URL(request.url()).pathname}`);
      return meetFault(route, fault, ended, onAnswer);
    },
  );
  const end = (): void => {
    over = true;
    release();
  };
  // A request that a failed test has left held would hold up the tests after it on a shared page.
  onTestFinished(end);
  return { requests, answered, end };
}

const patternOf = (path: string): RegExp => {
  const parts = path.split("/").map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/")}$`);
};

async function meetFault(route: Route, fault: Fault, ended: Promise<void>, onAnswer: () => void): Promise<void> {
  if (fault === "network") return route.abort("connectionfailed");
  if (fault === "lost") {
    await fetchAsPage(route);
    return route.abort("connectionreset");
  }
  if (fault === "late") {
    const response = await fetchAsPage(route);
    onAnswer();
    await ended;
    return route.fulfill({ response });
  }
  if (fault === "held") {
    await ended;
    return proceed(route);
  }
  const { status, kind = "internal" } = fault;
  return route.fulfill({
    status,
    headers: { "Content-Type": "application/json", "Item-Vault-Error": kind },
    body: JSON.stringify({ status, message: `A fault of the test: ${kind}` }),
  });
}

/** The answer of the service. Playwright sends this request, so it lacks what only the browser adds. */
export const fetchAsPage = async (route: Route) =>
  route.fetch({ headers: { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" } });

/** Sends the request, unless the test has closed its page in the meantime. */
const proceed = async (route: Route): Promise<void> => (route.request().frame().page().isClosed() ? undefined : route.continue());

/**
 * Keeps a page from following what others write, before it is opened. It then notices by a request of the test only that its session has
 * ended.
 */
export const stopFollowing = (page: Page): Promise<Injected> => injectFault(page, "GET", "/v1/events", "network");

/** Revokes a token by its id. Its sessions end. */
export const revokeToken = (id: string): Promise<unknown> => admin("DELETE", `tokens/${id}`);

/** Limits a vault, so that the next write that needs more is a 507 (contract 12.6). */
export const limitVault = (
  vault: string,
  quota: { readonly items?: number; readonly bytes?: number; readonly fileBytes?: number },
): Promise<unknown> => admin("PATCH", `vaults/${vault}`, { quota });

/** Lets the page have a report of the health with these parts. */
export const reportOf = (page: Page, ...dependencies: readonly object[]) =>
  page.route("**/health", (route) => route.fulfill({ json: { name: "Item Vault", version: "0", dependencies } }));
