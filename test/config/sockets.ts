import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

/**
 * Keeps the WebSockets of this process uncompressed. vitest and the workers exchange modules and results over them on this machine, and the
 * library `ws` offers compression, which takes a twentieth of the processor's time of all tests.
 */
export function useUncompressedSockets(): void {
  subscribe("http.client.request.created", (message) => {
    (message as { readonly request: ClientRequest }).request.removeHeader("Sec-WebSocket-Extensions");
  });
}
