import type { Socket } from "node:net";
import { type Answered, type Asked, startApi, startServer } from "./api.ts";
import { programOf } from "./files.ts";

/** The platforms of workloads, and a service that exchanges their tokens, as servers and programs of this machine. */

/** What no output may have: every token of a workload ends with it. */
export const SIGNATURE = "c2VjcmV0LW9mLXRoZS13b3JrbG9hZA";
/** The token with which a job asks GitHub for one. */
export const REQUEST_TOKEN = "request-token-of-the-job";
/** The token of the service. */
export const ISSUED = "issued.token-of_the.service";

let count = 0;
/** Another token of a workload at each call. */
export const newJwt = (): string => `e30.${Buffer.from(`{"jti":${count++}}`).toString("base64url")}.${SIGNATURE}`;

export const GRANTED = {
  access_token: ISSUED,
  issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
  token_type: "Bearer",
  expires_in: 900,
};

/** Starts a service. `answer`: to the attempt of this number, from 1; by default it grants the token. */
export async function startService(answer: (attempt: number) => Answered = () => ({ body: GRANTED })) {
  let attempt = 0;
  const { url, requests } = await startApi(() => answer(++attempt));
  return { url, requests, subjects: () => requests.map(({ body }) => new URLSearchParams(body).get("subject_token")) };
}

/** Starts the endpoint of GitHub Actions. Returns the variables of a job, and what it was asked. */
export async function startGitHub(answer: (attempt: number) => Answered = () => ({ body: { value: newJwt() } })) {
  const requests: Pick<Asked, "url" | "headers">[] = [];
  const url = await startServer(({ url: asked, headers: sent }, reply) => {
    requests.push({ url: asked!, headers: sent });
    const { status = 200, headers, body } = answer(requests.length);
    reply.writeHead(status, headers).end(JSON.stringify(body));
  });
  return { env: githubJob(url), requests };
}

/** The variables of a job of GitHub Actions. */
export const githubJob = (origin: string) => ({
  GITHUB_ACTIONS: "true",
  ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/_apis/token?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
});

/** Makes a folder with a program `buildkite-agent`: this script. Returns the variables of a job. */
export function buildkiteJob(script: string) {
  const folder = programOf("buildkite-agent", script);
  return { folder, env: { BUILDKITE: "true", PATH: `${folder}:${process.env["PATH"]!}` } };
}

type Fault = (socket: Socket) => void;

const answering = (status: string, type: string, body: string, more = ""): Fault => {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return (socket) => socket.end(`${head}Request-Id: 0198c5a0\r\n${more}\r\n${body}`);
};

/** A megabyte that goes on for as long as somebody reads. */
const endless: Fault = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRequest-Id: 1\r\n\r\n{"value":"');
  const more = (): void => {
    if (!socket.destroyed) socket.write("x".repeat(1_000_000), () => setImmediate(more));
  };
  more();
};

const refusal = (status: number) =>
  answering(`${status} No`, "application/json", JSON.stringify({ status, message: `${SIGNATURE} ${REQUEST_TOKEN}` }));

/** Faults of a server that gives tokens, besides those of deaf.ts, with the exit code of the command for a platform and for the service. */
export const TOKEN_FAULTS: readonly (readonly [name: string, fault: Fault, platform: number, service: number])[] = [
  ["400", refusal(400), 6, 2],
  ["401", refusal(401), 3, 3],
  ["403", refusal(403), 3, 3],
  ["404", refusal(404), 6, 4],
  ["413", refusal(413), 6, 1],
  ["429", refusal(429), 6, 6],
  ["500", refusal(500), 6, 6],
  ["503", refusal(503), 6, 6],
  ["a huge answer", endless, 6, 6],
  ["HTML that has a Request-Id", answering("200 OK", "text/html", "<title>Sign in</title>"), 6, 6],
  ["a redirect with a Request-Id", answering("307 Away", "text/plain", "", "Location: http://127.0.0.1:1/\r\n"), 6, 1],
  ["an empty answer", answering("200 OK", "application/json", ""), 6, 6],
  ["JSON null", answering("200 OK", "application/json", "null"), 6, 6],
  ["no token", answering("200 OK", "application/json", "{}"), 6, 6],
  ["a token of another type", answering("200 OK", "application/json", JSON.stringify({ value: 1, ...GRANTED, access_token: 1 })), 6, 6],
  ["a token with a line break", answering("200 OK", "application/json", JSON.stringify({ value: "a.b.c\n::x::", ...GRANTED, access_token: "a\nb" })), 6, 6],
  ["a token for a shell", answering("200 OK", "application/json", JSON.stringify({ value: "$(id)", ...GRANTED, access_token: "$(id)" })), 6, 6],
  ["no end of the token", answering("200 OK", "application/json", JSON.stringify({ value: "", ...GRANTED, expires_in: "900" })), 6, 6],
]; // oxfmt-ignore
