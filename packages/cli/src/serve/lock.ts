import { lstat, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { CliError } from "../frame/failure.ts";
import { codeOf } from "../frame/reasons.ts";
import { foreign } from "./copy-file.ts";

/**
 * The lock of a copy: a Unix socket beside it on which its process listens. The kernel closes it with the process, however that ends. Unlike
 * a process number, it means the same in every container.
 */

/** The longest path of a Unix socket that both Linux and macOS accept, in bytes. */
const PATH_BYTES_MAX = 103;

/**
 * Returns a function that releases the lock. Throws a CliError if another process has it, if the socket cannot be made, and if something else
 * than a socket is in its place.
 */
export async function lockCopy(copy: string): Promise<() => Promise<void>> {
  const path = process.platform === "win32" ? `\\\\.\\pipe\\${copy.replaceAll(/[\\/:]/g, "-")}` : `${copy}.lock`;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX && process.platform !== "win32")
    throw new CliError(`The path of the copy is longer than ${PATH_BYTES_MAX - 5} bytes`, { exit: "usage" });
  const taken = () => new CliError(`Another process uses ${copy}`, { exit: "conflict", hint: "Name another file with --copy." });
  let server = await listen(path);
  if (!server) {
    if (await isNoSocket(path)) throw foreign(path, "socket");
    if (await isUsed(path)) throw taken();
    // Its process has ended. Of two that find this at once, both may begin; each writes the copy as a whole, so it stays readable.
    await rm(path, { force: true });
    server = await listen(path);
  }
  if (!server) throw taken();
  const locked = server;
  return () => new Promise((closed) => void locked.close(() => closed()));
}

/** Returns undefined if the path exists. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy()).unref();
    server.once("error", (error) => {
      if (codeOf(error) === "EADDRINUSE") resolve(undefined);
      else reject(new CliError(`${path} cannot be made: ${codeOf(error)}`));
    });
    server.listen(path, () => resolve(server));
  });
}

/** A pipe of Windows is gone when its process is, so that nothing else has its name. */
const isNoSocket = async (path: string): Promise<boolean> =>
  process.platform !== "win32" && (await lstat(path).catch(() => undefined))?.isSocket() === false;

/** Returns true if a process listens on a socket. Only two errors of `connect` prove that none does. */
function isUsed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"));
  });
}
