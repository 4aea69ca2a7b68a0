import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, inject, it } from "vitest";
import { freshVault } from "../sdk/support/vault.ts";
import { listen } from "./support/api.ts";
import { ends } from "./support/here.ts";
import { runCli } from "./support/process.ts";

/** HTTPS_PROXY, in a process: Node's own support is for the whole of it. */

const HOST = "https://vault.example.invalid";

/** A proxy that refuses each connection, or closes it. Returns what it was asked for, with the headers. */
async function startProxy(closes = false) {
  const asked: string[] = [];
  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    answer.writeHead(502).end();
  });
  server.on("connect", ({ url, headers }: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${url} ${JSON.stringify(headers)}`);
    socket.end(closes ? "" : "HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  const url = await listen(server);
  return { asked, proxy: new URL(url).host };
}

const hasSupport = "setGlobalProxyFromEnv" in (await import("node:http")).default;
const WITHOUT = "import http from 'node:http'; delete http.setGlobalProxyFromEnv";
const withoutSupport = ["env", `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(WITHOUT)}`];
const whoami = (env: Record<string, string>, through: readonly string[] = []) =>
  runCli(["whoami", "--timeout", "60"], { env: { ITEM_VAULT_HOST: HOST, ITEM_VAULT_TOKEN: "t0ken", ...env }, through });

describe.runIf(hasSupport)("a proxy", () => {
  it.each(["HTTPS_PROXY", "https_proxy"])(
    "of %s is used for https, with its scheme or without, and gets no token",
    async (name) => {
      for (const scheme of ["http://", ""]) {
        const { asked, proxy } = await startProxy();
        const ran = await whoami({ [name]: scheme + proxy });
        expect(ran).toMatchObject(ends(6, "go through HTTPS_PROXY; NO_PROXY names"));
        expect(asked[0]).toMatch(/^CONNECT vault\.example\.invalid:443 /);
        expect(asked.join()).not.toContain("t0ken");
      }
    },
  );

  it("that closes each connection without an answer is a service that does not answer, and the process ends", async () => {
    const { proxy } = await startProxy(true);
    const env = { HTTPS_PROXY: proxy, ITEM_VAULT_HOST: HOST, ITEM_VAULT_TOKEN: "t0ken" };
    expect(await runCli(["whoami", "--timeout", "1"], { env })).toMatchObject({ code: 6 });
  });

  it("is not used for the hosts of NO_PROXY", async () => {
    const { asked, proxy } = await startProxy();
    expect(await whoami({ HTTPS_PROXY: `http://${proxy}`, NO_PROXY: ".example.invalid" })).toMatchObject({ code: 6 });
    expect(asked).toEqual([]);
  });

  it("is not used for http", async () => {
    const { asked, proxy } = await startProxy();
    const { token } = await freshVault();
    const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, ITEM_VAULT_HOST: inject("url"), ITEM_VAULT_TOKEN: token };
    expect(await whoami(env)).toMatchObject({ code: 0 });
    expect(asked).toEqual([]);
  });
});

describe("a proxy that is not used", () => {
  it.each([
    ["in a Node that has no support for it", "http://127.0.0.1:9", withoutSupport],
    ["of another protocol", "socks5://127.0.0.1:9", []],
  ])("%s is named when the service does not answer", async (_, HTTPS_PROXY, through) => {
    const ran = await whoami({ HTTPS_PROXY }, through);
    expect(ran).toMatchObject(ends(6, "HTTPS_PROXY is set and not used"));
    expect((await whoami({}, through)).stderr).not.toContain("PROXY");
  });
});
