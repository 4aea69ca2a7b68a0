import { describe, expect, it } from "vitest";
import { connectVault, requester } from "./replay.ts";

/**
 * RohanNagar/op-connect-sdk-java: Jackson writes each constant by its name and each absent attribute as null, and refuses an attribute that a
 * class does not declare. Read: OPConnectClient, model/Patch, model/PatchOperation, model/health/Dependency, OPConnectClientBuilder.
 */

const HEADERS = { "Content-type": "application/json" };

const patch = (op: string, path: string, value: unknown) => ({ op, path, value });

describe("the SDK for Java", () => {
  it("patches with operations in upper case, of which a removal has the value null", async () => {
    const { items, token, call } = await connectVault();
    const request = requester(HEADERS, token);
    const { body: item } = await call("POST", items, { body: { title: "T", category: "LOGIN", tags: ["a", "b"] } });
    const operations = [patch("REPLACE", "/title", "New"), patch("ADD", "/tags/-", "c"), patch("REMOVE", "/tags/0", null)];
    const { status, body } = await request("PATCH", `${items}/${item.id}`, JSON.stringify(operations));
    expect([status, body.title, body.tags]).toEqual([200, "New", ["b", "c"]]);
  });

  it("reads the health, whose classes declare a name, a version, and of each dependency three texts", async () => {
    const { token } = await connectVault();
    const request = requester(HEADERS, token);
    const { body } = await request("GET", "/health");
    expect(Object.keys(body)).toEqual(["name", "version", "dependencies"]);
    for (const dependency of body.dependencies) {
      expect(Object.keys(dependency)).toEqual(["service", "status", "message"]);
      expect(Object.values(dependency).every((value) => typeof value === "string")).toBe(true);
    }
    expect((await request("GET", "/heartbeat")).text).toBe(".");
  });

  it("lists the Files of an Item with inline_content=false, and the activity with a limit", async () => {
    const { items, token, call } = await connectVault();
    const request = requester(HEADERS, token);
    const { body: item } = await call("POST", items, { body: { title: "T", category: "LOGIN" } });
    expect((await request("GET", `${items}/${item.id}/files?inline_content=false`)).body).toEqual([]);
    expect((await request("GET", "/v1/activity?limit=5&offset=0")).status).toBe(200);
  });
});
