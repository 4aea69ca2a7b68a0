import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startCloudflare, TOKEN } from "./support/cloudflare.ts";
import { copyFolder, deploy, makeFolder, SECRETS, verifyDeployment, withEnv } from "./support/folder.ts";

/** A first deployment that Cloudflare refuses at each of its calls: the next start goes on. */

const CALLS: readonly RegExp[] = [
  /^POST \/d1\/database$/,
  /^POST \/d1\/database\/.*\/query$/,
  /assets-upload-session$/,
  /^POST \/workers\/assets\/upload$/,
  /^POST \/r2\/buckets$/,
  /^POST \/queues$/,
  /^POST .*\/subdomain$/,
  /\/schedules$/,
  /\/consumers$/,
];

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
});

const LONG = process.env["LONG_RUN"] === "1";

describe.runIf(LONG)("a deployment", () => {
  it("uses the login that `wrangler login` has stored", async () => {
    const [cloudflare, copy] = [await startCloudflare(), copyFolder(folder)];
    const config = join(copy, ".config/.wrangler/config"); // HOME of the process is its folder
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "default.toml"), `oauth_token = "${TOKEN}"\nexpiration_time = "2099-01-01T00:00:00.000Z"\n`);
    expect(await deploy(withEnv(cloudflare, { CLOUDFLARE_API_TOKEN: undefined }), copy)).toMatchObject({ code: 0 });
    await cloudflare.close();
  });

  it("without any login is refused with what to do", async () => {
    const [cloudflare, copy] = [await startCloudflare(), copyFolder(folder)];
    const { code, output } = await deploy(withEnv(cloudflare, { CLOUDFLARE_API_TOKEN: undefined }), copy);
    expect([code, output, cloudflare.calls]).toEqual([3, expect.stringContaining("npx wrangler login"), []]);
    await cloudflare.close();
  });

  it("of a checkout builds the static files and bundles the sources, to the same bytes as those of the package", async () => {
    const cloudflare = await startCloudflare();
    expect(await deploy(cloudflare, resolve("."), "--secrets", join(folder, "production.vars"))).toMatchObject({ code: 0 });
    const verified = await verifyDeployment(cloudflare, folder); // the folder has what the package carries
    expect([verified.code, verified.output]).toEqual([0, expect.stringMatching(/^Equal: all \d+ that can be compared/m)]);
    expect(cloudflare.unknown).toEqual([]);
    await cloudflare.close();
  });
});

describe.runIf(LONG)("a first deployment that is refused", () => {
  it.each(CALLS)("at %s goes on when it is started again", async (call) => {
    const [cloudflare, copy] = [await startCloudflare(), copyFolder(folder)];
    cloudflare.fail = call;
    const first = await deploy(cloudflare, copy);
    expect([first.code === 0, first.output]).toEqual([false, expect.stringContaining("Start the same command again")]);
    cloudflare.fail = undefined;
    expect(await deploy(cloudflare, copy)).toMatchObject({ code: 0 });
    const { databases, buckets, queues, workers } = cloudflare.state;
    const consumers = [...queues.values()].map((queue) => queue.consumers.length);
    expect([databases.size, buckets.size, consumers, cloudflare.unknown]).toEqual([1, 2, [1], []]);
    expect(workers.get("item-vault")).toMatchObject({ onSubdomain: true, schedules: [{}], migrationTag: "v1" });
    await cloudflare.close();
  });
});
