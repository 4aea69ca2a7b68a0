import { describe, expect, it } from "vitest";
import { HostResponse } from "../../packages/host/src/platform/response.ts";

/** The `Response` of the Worker in Node. */

describe("a Response", () => {
  it.each([
    ["a text", "é", "text/plain;charset=UTF-8"],
    ["bytes", new TextEncoder().encode("é"), null],
    ["a stream", new Blob(["é"]).stream(), null],
  ] as const)("of %s is read as that of Node", async (_, body, type) => {
    const response = new HostResponse(body);
    expect([response.status, response.ok, response.headers.get("Content-Type"), response.bodyUsed]).toEqual([
      200,
      true,
      type,
      false,
    ]);
    expect(await response.text()).toBe("é");
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow("Body is unusable");
  });

  it.each([null, undefined])("of %s has no body", async (body) => {
    const response = new HostResponse(body, { status: 204 });
    expect([response.body, HostResponse.wholeOf(response as never)]).toEqual([null, null]);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  it("keeps a text or bytes whole until somebody reads the stream", () => {
    const response = new HostResponse("x") as unknown as Response;
    expect(HostResponse.wholeOf(response)).toBe("x");
    expect(response.body).toBeInstanceOf(ReadableStream);
    expect(HostResponse.wholeOf(response)).toBeUndefined();
    expect(HostResponse.wholeOf(new Response("x"))).toBeUndefined();
  });

  it("copies the headers that it is given, and those of another Response", () => {
    const headers = new Headers({ ETag: "1" });
    const first = new HostResponse("x", { status: 206, headers });
    const second = new HostResponse(null, first);
    headers.set("ETag", "2");
    first.headers.set("ETag", "3");
    expect([second.status, second.headers.get("ETag")]).toEqual([206, "1"]);
  });

  it("of JSON has its type, or the one that it is given", async () => {
    const response = HostResponse.json({ a: 1 }, { status: 400 });
    expect([response.status, response.headers.get("Content-Type"), await response.json()]).toEqual([
      400,
      "application/json",
      { a: 1 },
    ]);
    expect(HostResponse.json(1, { headers: { "Content-Type": "x/y" } }).headers.get("Content-Type")).toBe("x/y");
  });

  it("may have the status 101 and a WebSocket", () => {
    const webSocket = new EventTarget() as never;
    const response = new HostResponse(null, { status: 101, webSocket });
    expect([response.status, response.webSocket]).toEqual([101, webSocket]);
  });

  it("throws for the rest of Response", () => {
    const response = new HostResponse("x") as unknown as Response;
    expect(response).toBeInstanceOf(Response);
    expect(() => response.clone()).toThrow(TypeError);
  });
});
