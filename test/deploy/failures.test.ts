import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startCloudflare, TOKEN } from "./support/cloudflare.ts";
import { copyFolder, deploy, makeFolder, SECRETS, verifyDeployment, withEnv } from "./support/folder.ts";

/** A first deployment that Cloudflare refuses at each of its calls: the step is named, and the next start goes on with it. */

const CALLS: readonly (readonly [step: string, call: RegExp])[] = [
  ["database", /^POST \/d1\/database$/],
  ["migrations", /^POST \/d1\/database\/.*\/query$/],
  ["worker", /assets-upload-session$/],
  ["worker", /^POST \/workers\/assets\/upload$/],
  ["worker", /^POST \/r2\/buckets$/],
  ["worker", /^POST \/queues$/],
  ["worker", /^PUT \/workers\/scripts\/item-vault$/],
  ["worker", /^POST .*\/subdomain$/],
  ["worker", /\/schedules$/],
  ["worker", /\/consumers$/],
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
  it.each(CALLS)("at the step %s, at %s, goes on when it is started again", async (step, call) => {
    const [cloudflare, copy] = [await startCloudflare(), copyFolder(folder)];
    cloudflare.fail = call;
    const first = await deploy(cloudflare, copy);
    expect([first.code === 0, first.output]).toEqual([false, expect.stringContaining(`The step \`${step}\` failed`)]);
    cloudflare.fail = undefined;
    expect(await deploy(cloudflare, copy)).toMatchObject({ code: 0 });
    const { databases, buckets, queues, workers } = cloudflare.state;
    const consumers = [...queues.values()].map((queue) => queue.consumers.length);
    expect([databases.size, buckets.size, consumers, cloudflare.unknown]).toEqual([1, 2, [1], []]);
    expect(workers.get("item-vault")).toMatchObject({ onSubdomain: true, schedules: [{}], migrationTag: "v1" });
    await cloudflare.close();
  });

  it("by /health, which does not answer: the step is named, and the next start waits again", async () => {
    const [cloudflare, copy] = [await startCloudflare(), copyFolder(folder)];
    const first = await deploy(cloudflare, copy, "--url", "http://127.0.0.1:9");
    expect([first.code, first.output]).toEqual([6, expect.stringContaining("The step `health` failed")]);
    expect((await deploy(cloudflare, copy)).code).toBe(0);
    await cloudflare.close();
  });
});
