import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { COMMON_HEADERS } from "@item-vault/model/common-headers";
import { describe, type FailureKind } from "@item-vault/model/failure";
import { operationId } from "@item-vault/model/ids";
import { ALIASES } from "../../../../src/api/operations.ts";
import type { Answer } from "./request.ts";

/** One request of a local client and its answer, with the headers and errors of the contract. */

export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  /** Decoded, without doubled slashes and without one at the end. */
  readonly path: string;
  /** The path as it is passed on. */
  readonly rawPath: string;
  /** With its question mark, as it was sent. */
  readonly search: string;
  readonly requestId: string;
}

/** The parts of a request target in origin form or in absolute form (RFC 9112 section 3.2). */
const TARGET = /^(?:https?:\/\/([^/?#]*))?([^?#]*)([^#]*)/i;

export function openExchange(incoming: IncomingMessage, answer: ServerResponse): Exchange {
  const [authority, requested = "", search = ""] = TARGET.exec(incoming.url!)!.slice(1);
  if (authority !== undefined) incoming.headers.host = authority; // it replaces the header
  const target = `http://host${requested}`;
  const rawPath = requested.startsWith("/") && URL.canParse(target) ? new URL(target).pathname : "/";
  const plain = decoded(rawPath)
    .replaceAll(/\/{2,}/g, "/")
    .replace(/(?<=.)\/$/, "");
  const path = ALIASES.get(plain) ?? plain;
  const requestId = operationId(Date.now(), randomBytes(10));
  for (const [name, value] of Object.entries(COMMON_HEADERS)) answer.setHeader(name, value);
  answer.setHeader("Request-Id", requestId);
  return { incoming, answer, path, rawPath, search, requestId };
}

/** Decodes a path as the service does before routing: `%2F` stays, and invalid UTF-8 does not prevent decoding the rest. */
const decoded = (path: string): string =>
  path.replaceAll(/(?:%[\dA-F]{2})+/gi, (bytes) => {
    try {
      return decodeURI(bytes);
    } catch {
      return bytes;
    }
  });

export const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

export type Content = Pick<Answer, "headers" | "body">;

export function send({ incoming, answer }: Exchange, status: number, { headers, body }: Content): void {
  const length = status === 304 ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  answer.writeHead(status, { ...headers, ...length });
  answer.end(incoming.method === "HEAD" || status === 304 ? undefined : body);
}

interface Refusal {
  readonly detail?: string;
  /** Replaces the message of the kind. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Time limit for reading the rest of a body, in milliseconds. */
const REST_MS = 30_000;

/** Reads the rest of a body, because a client that is still sending would not see the answer. */
function readRest(incoming: IncomingMessage): void {
  // The event of a body that was read has been emitted: nothing would end the timer.
  if (incoming.closed) return;
  const end = setTimeout(() => incoming.destroy(), REST_MS);
  incoming.on("close", () => clearTimeout(end)).resume();
}

/** An error (contract 4). */
export function refuse(exchange: Exchange, kind: FailureKind, { detail, message, headers = {} }: Refusal = {}): void {
  const described = describe(detail === undefined ? { kind } : { kind, detail });
  const { status, retryAfterSeconds } = described;
  const retry: Record<string, string> = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  const body = JSON.stringify({ status, message: message ?? described.message });
  const type = { "Content-Type": "application/json", "Item-Vault-Error": kind };
  readRest(exchange.incoming);
  send(exchange, status, { headers: { ...type, ...retry, ...headers }, body });
}
