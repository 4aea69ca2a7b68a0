import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { brotliDecompress, createBrotliDecompress } from "node:zlib";
import type { Browser } from "./chromium.ts";
import { parseTar } from "./tar.ts";

/** Unpacks the browser of the package @sparticuz/chromium, without the package's own JavaScript (decision 0042). */

const CACHE = "node_modules/.cache/item-vault-chromium";
/** Files are read and written in pieces of this many bytes. */
const PIECE = 2 ** 20;

/** The package's fonts only, so that a screenshot is the same on every machine. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`;

/**
 * Unpacks the browser in the package's folder, once for each version: 3 seconds, 210 MB. The folder appears under its name when it is
 * complete, so that runs at the same time and runs that were killed do no harm.
 */
export async function unpackChromium(packageFolder: string): Promise<Browser> {
  const { version } = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8")) as { version: string };
  const folder = join(process.cwd(), CACHE, version);
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
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_PATH: folder },
  };
}

async function writeBrowser(packed: string, folder: string): Promise<void> {
  await Promise.all([
    pipeline(
      createReadStream(join(packed, "chromium.br"), { highWaterMark: PIECE }),
      createBrotliDecompress({ chunkSize: PIECE }),
      createWriteStream(join(folder, "chromium"), { mode: 0o755 }),
    ),
    writeArchive(join(packed, "al2023.tar.br"), folder),
    writeArchive(join(packed, "fonts.tar.br"), folder),
  ]);
  // Instead of the package's own, which names folders of AWS Lambda.
  await writeFile(join(folder, "fonts.conf"), FONTS);
}

async function writeArchive(path: string, folder: string): Promise<void> {
  const archive = await promisify(brotliDecompress)(await readFile(path));
  for (const file of parseTar(archive)) {
    const target = join(folder, file.path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, file.bytes, { mode: file.mode });
  }
}
