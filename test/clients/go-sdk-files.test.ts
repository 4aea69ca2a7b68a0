import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { FILE, ITEM, throughGo } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, ID, requester } from "./replay.ts";

/**
 * 1Password/connect-sdk-go v1.5.3: its requests for Files (GetFiles, GetFile, GetFileContent, DownloadFile).
 *
 * Read: connect/client.go, connect/version.go; onepassword/files.go in the copy that tellerops/teller vendors. The SDK
 * downloads a content from the concatenation of base URL and content_path, and adds no slash. It refuses answers without the
 * header 1Password-Connect-Version, or with a version below 1.3.0.
 */

const GO_SDK = goHeaders("connect-sdk-go/1.5.3");

async function withFile(bytes: Uint8Array, base = "") {
  const fresh = await connectVault();
  const { body: item } = await fresh.call("POST", fresh.items, { body: { title: "Keys", category: "DOCUMENT" } });
  const path = `${fresh.items}/${item.id}`;
  const file = await attach(fresh.call, path, "name=key.pem&section=s1", bytes);
  return { ...fresh, path, file, request: requester(GO_SDK, fresh.token, base) };
}

const version = (headers: Headers) => (headers.get("1Password-Connect-Version") ?? "").split(".").map(Number);

describe("connect-sdk-go", () => {
  it("lists the Files of an Item as an array, and reads one", async () => {
    const { request, path, file } = await withFile(pattern(20));
    const list = await request("GET", `${path}/files`);
    expect(list.body).toEqual([file]);
    expect(throughGo(FILE, list.body[0])).toMatchObject({ id: expect.stringMatching(ID), name: "key.pem", size: 20 });
    expect((await request("GET", `${path}/files/${file.id}`)).body).toEqual(file);
    expect(throughGo(ITEM, (await request("GET", path)).body).files).toEqual([file]);
  });

  it.each([
    ["without", ""],
    ["with", "/"],
  ])("downloads the content from content_path, with a base URL %s a slash at its end", async (_, base) => {
    const { token, file } = await withFile(pattern(20_000), base);
    const { status, headers, bytes } = await download(GO_SDK, token, base + file.content_path);
    expect([status, headers.get("Content-Length")]).toEqual([200, "20000"]);
    expect(bytes).toEqual(pattern(20_000));
  });

  it("gets a content_path that begins with a slash (contract 3.5)", async () => {
    const { vault, path, file } = await withFile(pattern(1));
    expect(file.content_path).toBe(`${path}/files/${file.id}/content`);
    expect(file.content_path.startsWith(`/v1/vaults/${vault}/`)).toBe(true);
  });

  it("gets a version of Connect that supports Files, in answers and in errors", async () => {
    const { request, path, token, file } = await withFile(pattern(1));
    const [major = 0, minor = 0, patch = 0] = version((await request("GET", `${path}/files`)).headers);
    expect(major > 1 || (major === 1 && minor >= 3)).toBe(true);
    expect(version((await download(GO_SDK, token, file.content_path)).headers)).toEqual([major, minor, patch]);
    const missing = await request("GET", `${path}/files/abcdefghijklmnopqrstuvwxyz`);
    expect([missing.status, version(missing.headers)]).toEqual([404, [major, minor, patch]]);
  });
});
