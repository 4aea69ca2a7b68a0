import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Finds the browser of the tests (docs/design/tests.md). */

/** The browser inside an npm package, which unpack.ts unpacks, or the path of one on this machine. */
export type Found = { readonly packaged: string } | { readonly executablePath: string };

/** A browser that can be started. */
export interface Browser {
  readonly executablePath: string;
  /** Environment variables that it needs besides those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

const PACKAGE = "node_modules/@sparticuz/chromium";
/** The GNU C library for which the packaged browser is built. */
const GLIBC = [2, 34] as const;

/** Names in the PATH on Linux and the BSDs. */
const NAMES = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser"];
const MAC = ["Google Chrome", "Chromium"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
const windows = (): string[] =>
  ["ProgramFiles", "ProgramFiles(x86)", "LocalAppData"]
    .flatMap((name) => process.env[name] ?? [])
    .map((folder) => join(folder, "Google", "Chrome", "Application", "chrome.exe"));

const inPath = (): string[] =>
  (process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));

/**
 * Finds a browser: that of CHROME_PATH, else that of the npm package, else one that is installed. Errors: throws when CHROME_PATH
 * names no file.
 */
export function findChromium(): Found | undefined {
  const chosen = process.env["CHROME_PATH"];
  if (chosen !== undefined && chosen !== "") {
    if (!existsSync(chosen)) throw new Error(`CHROME_PATH names no file: ${chosen}`);
    return { executablePath: chosen };
  }
  if (runsPackaged()) return { packaged: PACKAGE };
  const places = process.platform === "darwin" ? MAC : process.platform === "win32" ? windows() : inPath();
  const executablePath = places.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : { executablePath };
}

/** Whether this machine runs the packaged browser: Linux on x64, with a GNU C library that is new enough. */
function runsPackaged(): boolean {
  if (process.platform !== "linux" || process.arch !== "x64") return false;
  // With the network, the report looks up the name of each connection.
  const { header } = Object.assign(process.report, { excludeNetwork: true }).getReport() as {
    header: { glibcVersionRuntime?: string };
  };
  const [major = 0, minor = 0] = (header.glibcVersionRuntime ?? "").split(".").map(Number);
  return major > GLIBC[0] || (major === GLIBC[0] && minor >= GLIBC[1]);
}
