import { describe, expect, it } from "vitest";
import { connectVault, requester } from "./replay.ts";

/**
 * dmno-dev/varlock 1.20 with its 1Password plugin 2.0.4: it asks for a name as an id first, then by a filter in which it
 * escapes backslashes and quotes. Read: src/plugin.ts of packages/plugins/1password.
 */

const filterBy = (attribute: string, name: string) =>
  `filter=${encodeURIComponent(`${attribute} eq "${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`)}`;

describe("varlock", () => {
  it.each([String.raw`DOMAIN\user`, 'say "hi"', String.raw`a\"b`, String.raw`C:\Users\ "x" \\`, "plain"])(
    "finds a vault and an Item of the name %j",
    async (name) => {
      const { vault, items, token, call } = await connectVault(name);
      const request = requester({}, token);
      const { body: made } = await call("POST", items, { body: { title: name, category: "LOGIN" } });
      expect((await request("GET", `/v1/vaults/${encodeURIComponent(name)}`)).status).toBe(400);
      expect((await request("GET", `/v1/vaults?${filterBy("name", name)}`)).body).toMatchObject([{ id: vault }]);
      expect((await request("GET", `${items}/${encodeURIComponent(name)}`)).status).toBe(400);
      expect((await request("GET", `${items}?${filterBy("title", name)}`)).body).toMatchObject([{ id: made.id }]);
      expect((await request("GET", `${items}/${made.id}`)).body).toMatchObject({ title: name });
    },
  );
});
