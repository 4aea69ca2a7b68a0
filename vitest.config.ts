import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

/** All tests run inside workerd, with the bindings of wrangler.toml as wrangler runs them locally. */
export default defineConfig({
  plugins: [
    cloudflareTest(async () => ({
      remoteBindings: false,
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: {
        bindings: {
          ADMIN_TOKEN: "test-admin-token",
          ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
          SCHEMA: await readD1Migrations("."), // schema.sql, split into its statements
        },
      },
    })),
  ],
  // What the service logs about faults that a test injects is shown when the test fails.
  test: { setupFiles: ["./test/support/setup.ts"], silent: "passed-only", testTimeout: 30_000 },
});
