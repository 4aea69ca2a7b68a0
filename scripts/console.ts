/** `npm run console` prints a link that signs in to the console of the service that `npm start` runs here. */
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { LIMITS } from "../src/model/limits.ts";
import { createSignInLink, DEMO, loadAddress, loadDemo } from "./demo.ts";

const { ADMIN_TOKEN } = parseEnv(existsSync(".dev.vars") ? readFileSync(".dev.vars", "utf8") : "");
// Only while the service runs: otherwise another program that listens on the port would get the token.
const base = loadAddress();
const link = base && ADMIN_TOKEN ? await createLink(base, ADMIN_TOKEN) : undefined;
if (link === undefined) {
  console.error("The service does not run here. Start it with `npm start`, then run this again in another terminal.");
  process.exit(1);
}
console.error(`The link opens the console, once and within ${LIMITS.signInCode / 60} minutes.`);
console.log(link);

/** Signs in as the demo too, unless its token was revoked. */
async function createLink(url: string, adminToken: string): Promise<string | undefined> {
  const token = loadDemo(DEMO)?.token;
  return createSignInLink(url, adminToken, token)
    .catch(() => createSignInLink(url, adminToken))
    .catch((error: Error) => (error.message === "fetch failed" ? undefined : Promise.reject(error)));
}
