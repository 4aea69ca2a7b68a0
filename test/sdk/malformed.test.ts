import { connect } from "node:net";
import { expect, inject, it } from "vitest";

/** Input that is no well-formed HTTP request: the platform answers it, and not the service (contract 1.11). */

/** Sends a text to the local server. Returns everything that it answers. */
const answerTo = (text: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(inject("url"));
    let answer = "";
    connect(Number(port), hostname)
      .setEncoding("latin1")
      .on("data", (chunk: string) => (answer += chunk))
      .on("end", () => resolve(answer))
      .on("error", reject)
      .write(text);
  });

const HEADER = /^1Password-Connect-Version:/im;

it.each([
  ["an unknown method", "NOTHING /heartbeat HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a request line without a path", "GET\r\nHost: x\r\n\r\n"],
  ["a header without a colon", "GET /heartbeat HTTP/1.1\r\nHost: x\r\nmalformed\r\n\r\n"],
])("%s gets an answer without the headers of the service", async (_, text) => {
  const answer = await answerTo(text);
  expect(answer).toMatch(/^HTTP\/1\.1 [45]\d\d /);
  expect(answer).not.toMatch(HEADER);
});

it("a well-formed request gets them", async () => {
  expect(await answerTo("GET /heartbeat HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(HEADER);
});
