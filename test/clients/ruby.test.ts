import { expect, it } from "vitest";
import { connectVault, requester } from "./replay.ts";

/**
 * op_connect 0.1.3 for Ruby, through Faraday and net/http, which asks for gzip and does not decompress an answer that has a
 * Content-Range. Read: lib/op_connect/client.rb, connection.rb, default.rb.
 */

it("op_connect gets a log that nothing on the way may compress", async () => {
  const { items, token, call } = await connectVault();
  await call("POST", items, { body: { title: "x", category: "LOGIN" } });
  const ruby = {
    "User-Agent": "1Password Connect Ruby SDK 0.1.3",
    "Accept-Encoding": "gzip;q=1.0,deflate;q=0.6,identity;q=0.3",
    Accept: "*/*",
  };
  const { headers, body } = await requester(ruby, token)("GET", "/v1/activity?limit=10&offset=0");
  expect(headers.get("Content-Range")).toBe("1-2/2");
  expect(headers.get("Cache-Control")).toBe("no-store, no-transform");
  expect(headers.get("Content-Encoding")).toBe(null);
  expect(body).toHaveLength(2);
});
