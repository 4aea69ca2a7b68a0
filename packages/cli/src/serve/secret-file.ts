import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "../frame/failure.ts";
import { reasonOf } from "../frame/reasons.ts";

/** The files of `--key-file` and `--client-token-file`: a random secret, readable for its owner only. */

const SECRET = /^[\w-]{43,}$/;

/**
 * Returns the secret of the file, which is created if it is missing: 32 random bytes in base64url. Throws a CliError if others can read the
 * file, if it has no such secret, or if it can be neither read nor created.
 */
export async function loadSecretFile(path: string): Promise<string> {
  await makeSecretFile(path);
  const found = await stat(path).catch(unusable(path));
  if (isExposed(found, process.getuid?.()))
    throw new CliError(`Other users can read ${path}`, {
      exit: "usage",
      hint: `It has to be a file of this user with mode 600: run \`chmod 600 ${path}\`, or \`chown\`.`,
    });
  const secret = (await readFile(path, "utf8").catch(unusable(path))).trim();
  if (!SECRET.test(secret))
    throw new CliError(`${path} holds no secret of at least 43 characters of base64url`, {
      exit: "usage",
      hint: "Name a file that does not exist: it is made with a random secret.",
    });
  return secret;
}

/**
 * Returns true if others can read the file of a secret. Its owner counts too, unless that is root or the user of this process. A file of root
 * may be readable for its group if this process belongs to another user. systemd gives a service its credentials in this way (an ACL shows in
 * the mode as the group), and so does Kubernetes with `fsGroup`. `user` is absent on Windows, which has no such modes.
 */
export function isExposed({ mode, uid }: Pick<Stats, "mode" | "uid">, user: number | undefined): boolean {
  if (user === undefined) return false;
  if (uid !== 0 && uid !== user) return true;
  const forbidden = uid === 0 && user !== 0 ? 0o037 : 0o077;
  return (mode & forbidden) !== 0;
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
    throw new CliError(`${path} cannot be used: ${reasonOf(error)}`);
  };
