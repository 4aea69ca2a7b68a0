import { spawn } from "node:child_process";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { platform } from "node:os";
import type { Client } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { TOKEN_VARIABLES } from "../frame/settings.ts";
import { interruptible } from "../frame/signals.ts";
import { tell } from "../output/format.ts";
import { type LoginRequest, type LoginToken, redeemCode } from "./login-request.ts";

/** `login --browser`: a code comes from the console to a port of this machine (RFC 8252), and is redeemed with its verifier (RFC 7636). */

/** Time limit for the confirmation by the person, in milliseconds. */
const WAIT_MS_MAX = 120_000;

const random = (): string => randomBytes(32).toString("base64url");

/**
 * Opens the console in a browser and waits until the person has confirmed. `client` has no token. Throws a CliError after two minutes and if
 * the code gives no token, and errors of the client.
 */
export async function loginInBrowser(io: Io, client: Client, host: string, request: LoginRequest): Promise<LoginToken> {
  const [state, verifier] = [random(), random()];
  return interruptible(async (signal) => {
    const listener = await listen(state, signal);
    try {
      const url = authorizeUrl(host, { ...request, state, verifier, redirectUri: listener.redirectUri });
      await tell(io, "Confirm the login in the browser within 2 minutes. If none opens, open this address:");
      await tell(io, url);
      openBrowser(io.env, url);
      const code = await listener.code;
      const body = { code, code_verifier: verifier, redirect_uri: listener.redirectUri };
      return await redeemCode(client, body, signal);
    } finally {
      listener.close();
    }
  });
}

interface Authorization extends LoginRequest {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** The page of the console that asks the person (contract 28.3). */
function authorizeUrl(host: string, { state, verifier, redirectUri, vaults, expiresIn, admin }: Authorization): string {
  const url = new URL("/console/authorize", host);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = {
    redirect_uri: redirectUri,
    code_challenge: challenge,
    state,
    ...(admin && { admin: "true" }),
    ...(vaults && { vaults: JSON.stringify(vaults) }),
    ...(expiresIn !== undefined && { expiresIn: String(expiresIn) }),
  };
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

interface Listener {
  readonly redirectUri: string;
  readonly code: Promise<string>;
  readonly close: () => void;
}

/** Listens on a free port of this machine. Requests without the state are refused, and the listener keeps waiting. */
async function listen(state: string, signal: AbortSignal): Promise<Listener> {
  // Node 20 has no Promise.withResolvers.
  let [resolve, reject]: [(code: string) => void, (reason: unknown) => void] = [() => undefined, () => undefined];
  const code = new Promise<string>((...settlers) => ([resolve, reject] = settlers));
  code.catch(() => undefined); // The caller may have failed before it waits.
  const server = createServer((incoming, answer) => {
    const found = codeOf(incoming, state);
    respond(answer, found === undefined ? 400 : 200);
    if (found !== undefined) answer.once("close", () => resolve(found)); // `close` ends every connection
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const timer = setTimeout(() => reject(new CliError("The login was not confirmed within 2 minutes")), WAIT_MS_MAX);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const { port } = server.address() as AddressInfo;
  return {
    redirectUri: `http://127.0.0.1:${port}/`,
    code,
    close() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      server.close();
      server.closeAllConnections(); // a browser may keep an unused connection open
    },
  };
}

/** Returns the code of a request from the console, or undefined for any other request. */
function codeOf({ method, url = "" }: IncomingMessage, state: string): string | undefined {
  // Any program of this machine may ask for anything, for example for `//`, which is no path of a URL.
  if (!URL.canParse(url, "http://127.0.0.1")) return undefined;
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  const [sent, own] = [searchParams.get("state") ?? "", state].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const code = searchParams.get("code") ?? "";
  const isOwn = sent.length === own.length && timingSafeEqual(sent, own);
  return method === "GET" && pathname === "/" && isOwn && code !== "" ? code : undefined;
}

/** The page that is left in the browser. It has nothing of the request. */
function respond(answer: ServerResponse, status: 200 | 400): void {
  const text = status === 200 ? "The login goes on in the terminal. You can close this page." : "This is no answer to the login.";
  answer.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    Connection: "close",
  });
  answer.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Item Vault</title><p>${text}</p></html>\n`);
}

/** The program that opens a URL, by platform; `xdg-open` elsewhere. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a browser, if there is one: the URL was printed too. `BROWSER` names another program. It gets no token by its environment. */
function openBrowser(env: Io["env"], url: string): void {
  const [program, ...args] = env["BROWSER"] ? [env["BROWSER"]] : (OPENERS[platform()] ?? ["xdg-open"]);
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !TOKEN_VARIABLES.includes(name)));
  try {
    spawn(program!, [...args, url], { env: own, stdio: "ignore", detached: true })
      .on("error", () => undefined)
      .unref();
  } catch {
    // Node throws some errors of a start, for example ENOTDIR.
  }
}
