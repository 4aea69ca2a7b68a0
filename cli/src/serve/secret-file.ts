import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "../frame/failure.ts";

/** The files of `--key-file` and `--client-token-file`: a random secret, readable for its owner only. */

const SECRET = /^[\w-]{43,}$/;

/**
 * Out: the secret of the file, which is made if it is missing: 32 random bytes in base64url. Errors: throws a CliError when others may read
 * the file, when it has no such secret, and when it can be neither read nor made.
 */
export async function loadSecretFile(path: string): Promise<string> {
  await makeSecretFile(path);
  const found = await stat(path).catch(unusable(path));
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    throw new CliError(`Others may read ${path}`, { exit: "usage", hint: `Run \`chmod 600 ${path}\`.` });
  const secret = (await readFile(path, "utf8").catch(unusable(path))).trim();
  if (!SECRET.test(secret))
    throw new CliError(`${path} holds no secret of at least 43 characters of base64url`, {
      exit: "usage",
      hint: "Name a file that does not exist: it is made with a random secret.",
    });
  return secret;
}

/** Does nothing when the file exists: of two processes that start at once, one makes it. */
async function makeSecretFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(unusable(path));
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) =>
    error.code === "EEXIST" ? undefined : unusable(path)(error),
  );
  if (!file) return;
  try {
    await file.writeFile(`${randomBytes(32).toString("base64url")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

const unusable =
  (path: string) =>
  (error: unknown): never => {
    throw new CliError(`${path} cannot be used: ${(error as NodeJS.ErrnoException).code ?? "unknown fault"}`);
  };
