import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";

/**
 * Features of Chromium that are switched off. Chromium reads only the last switch of this name, so the list repeats those of Playwright's
 * own switch that matter to pages.
 */
const WITHOUT_FEATURES = [
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  // Not in Playwright's: a new document gets new objects in the browser and the renderer, and a new compositor.
  "RenderDocument",
];

let launched: Promise<Browser> | undefined;

/**
 * The browser of this worker, which all its test files use. Each worker has one of its own, because the pages of a browser share
 * its clipboard. It ends with the worker.
 */
export function launchBrowser(): Promise<Browser> {
  const { executablePath, env } = inject("browser");
  launched ??= chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    // The sandbox needs rights that a container does not have. The pages are the project's own.
    chromiumSandbox: false,
    // Besides Playwright's own: on a machine without a network, the browser would try again and again.
    args: [
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      "--disable-quic",
      // No test needs WebGL, and there is no GPU.
      "--disable-gpu",
      "--disable-software-rasterizer",
      `--disable-features=${WITHOUT_FEATURES.join(",")}`,
    ],
  });
  return launched;
}
