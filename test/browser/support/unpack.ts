import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream, existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { brotliDecompressSync, createBrotliDecompress } from "node:zlib";
import type { Browser } from "./chromium.ts";

/** Unpacks the browser of the package @sparticuz/chromium, without the package's own JavaScript (docs/design/tests.md). */

const CACHE = "node_modules/.cache/item-vault-chromium";
/** Part of the folder's name. A change of what is written into the folder raises it. */
const LAYOUT = 1;
/** Files are read and written in pieces of this many bytes. */
const PIECE = 2 ** 20;

/** Fonts of packages only, so that a screenshot is the same on every machine. Without its own, a character is taken of DejaVu Sans. */
const OTHER_FONTS = ["DejaVuSans.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"];
const OTHER_FOLDER = "node_modules/dejavu-fonts-ttf/ttf";
const prefer = (generic: string, family: string): string =>
  `<alias binding="same"><family>${generic}</family><prefer><family>${family}</family></prefer></alias>`;
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  ${["sans-serif", "system-ui"].map((generic) => prefer(generic, "Open Sans")).join("")}
  ${["monospace", "ui-monospace"].map((generic) => prefer(generic, "DejaVu Sans Mono")).join("")}
</fontconfig>
`;

/**
 * Unpacks the browser in the package's folder, once for each version: 3 seconds, 210 MB. The folder appears under its name when it is
 * complete, so that runs at the same time and runs that were killed do no harm.
 */
export async function unpackChromium(packageFolder: string): Promise<Browser> {
  const { version } = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8")) as { version: string };
  const folder = join(process.cwd(), CACHE, `${version}-${LAYOUT}`);
  if (!existsSync(folder)) {
    await mkdir(dirname(folder), { recursive: true });
    const temporary = await mkdtemp(`${folder}-`);
    try {
      await writeBrowser(join(packageFolder, "bin"), temporary);
      await rename(temporary, folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      // Another run may have been faster.
      if (!existsSync(folder)) throw error;
    }
  }
  return {
    executablePath: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_PATH: folder, XDG_CACHE_HOME: folder },
  };
}

async function writeBrowser(packed: string, folder: string): Promise<void> {
  await pipeline(
    createReadStream(join(packed, "chromium.br"), { highWaterMark: PIECE }),
    createBrotliDecompress({ chunkSize: PIECE }),
    createWriteStream(join(folder, "chromium"), { mode: 0o755 }),
  );
  for (const name of ["al2023", "fonts"]) writeArchive(join(packed, `${name}.tar.br`), folder);
  for (const name of OTHER_FONTS) await copyFile(join(OTHER_FOLDER, name), join(folder, "fonts", name));
  // Instead of the package's own, which names folders of AWS Lambda.
  await writeFile(join(folder, "fonts.conf"), FONTS);
}

/** Extracts the archive in one call. A pipe fails by chance: Node closes it when `tar` exits, even if its end was not yet reported. */
function writeArchive(path: string, folder: string): void {
  const input = brotliDecompressSync(readFileSync(path));
  const { status } = spawnSync("tar", ["-x", "--no-same-owner", "-C", folder], { input, stdio: ["pipe", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`tar cannot read ${path}`);
}
