import { createServer } from "node:net";

/** A port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => void probe.listen(0, "127.0.0.1", listening));
  const { port } = probe.address() as { port: number };
  await new Promise<void>((closed) => void probe.close(() => closed()));
  return port;
}
