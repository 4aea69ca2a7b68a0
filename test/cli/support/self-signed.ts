import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A key and a certificate that it has signed itself, for localhost. They protect nothing. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1A1cQeohaMFXJxdZ
QF/kXMryLWNSYmvVzvMkKxn9gVChRANCAAR/BEFP46d5oNw2WTmZxZxC2P+4CUex
Y/aj+GGwEJKjPxYioT5xDht6D9yRGajWVDUMFng6ptJHeS2ZlLMgPMcK
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUOcuBn43pugbWc8OJqxwGJO5SLFwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTA0NDM0M1oYDzIxMjYxMTA1
MDQ0MzQzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR/BEFP46d5oNw2WTmZxZxC2P+4CUexY/aj+GGwEJKjPxYioT5xDht6
D9yRGajWVDUMFng6ptJHeS2ZlLMgPMcKo28wbTAdBgNVHQ4EFgQU2APy5vsKzGtl
3Yt+DFoJ3ulP5PEwHwYDVR0jBBgwFoAU2APy5vsKzGtl3Yt+DFoJ3ulP5PEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgArr8HGH/XxKZIeldrSAi4lE1SHa4ual0amThayACq8QCIFOi
XoJRDO0LnBdT/zSztdRoKDQG/7GJogdqfk+bG7TO
-----END CERTIFICATE-----`;

/** Starts an https server whose certificate nobody trusts. */
export async function startSelfSigned(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end());
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}`, close: () => void server.close() };
}
