import { describe, expect, it } from "vitest";
import { discoveryUrlOf, issuerUrlFault, keysUrlFault } from "../../src/model/issuer-url.ts";

/** The URLs of the issuers of workload tokens, and of their keys (OpenID Connect Discovery 1.0). */

const GOOD = [
  "https://token.actions.githubusercontent.com",
  "https://gitlab.com",
  "https://agent.buildkite.com",
  "https://tenant.eu.auth0.com/",
  "https://github.acme.com/_services/token",
  "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
  "https://login.microsoftonline.com/8f5f6a52-72c6-4b5e-9d0c-5c6b2d6a7e11/v2.0",
  "https://issuer.acme.com:8443/a/",
];

/** Those that are refused wherever the keys come from. */
const BAD: readonly (readonly [string, fault: RegExp])[] = [
  ["", /is not a URL/],
  ["issuer.acme.com", /is not a URL/],
  ["kubernetes/serviceaccount", /is not a URL/],
  ["https://", /is not a URL/],
  [" https://issuer.acme.com", /is not a URL/],
  ["https://issuer.acme.com\n", /is not a URL/],
  ["https://issuer.ac\tme.com", /is not a URL/],
  ["https://bücher.acme.com", /is not a URL/],
  ["https:\\\\issuer.acme.com", /is not a URL/],
  ["http://issuer.acme.com", /https/],
  ["ftp://issuer.acme.com", /https/],
  ["https://user@issuer.acme.com", /user name/],
  ["https://:secret@issuer.acme.com", /user name/],
  ["https://issuer.acme.com#", /fragment/],
  ["https://issuer.acme.com/#a", /fragment/],
  ["https://issuer.acme.com?", /query/],
  ["https://issuer.acme.com/a?b=c", /query/],
  ["HTTPS://issuer.acme.com", /canonical/],
  ["https://Issuer.acme.com", /canonical/],
  ["https://issuer.acme.com:443", /canonical/],
  ["https://issuer.acme.com/a/../b", /canonical/],
  ["https://issuer.acme.com/./", /canonical/],
  ["https://issuer.acme.com/%2e%2e/b", /canonical/],
  ["https:issuer.acme.com", /canonical/],
  ["https:/issuer.acme.com", /canonical/],
  [`https://issuer.acme.com/${"x".repeat(2_048)}`, /longer than 2048 bytes/],
];

/** Hosts to which the service sends nothing. */
const LOCAL = [
  "https://127.0.0.1",
  "https://10.0.0.1/a",
  "https://169.254.169.254",
  "https://[::1]",
  "https://localhost",
  "https://localhost:6443",
  "https://kubernetes",
  "https://printer.local",
  "https://metadata.google.internal",
  "https://issuer.acme.com./",
];

const ORIGIN = "http://127.0.0.1:9000";

describe("the URL of an issuer", () => {
  it.each(GOOD)("may be %s", (url) => {
    expect([issuerUrlFault(url, "fetched"), issuerUrlFault(url, "given")]).toEqual([undefined, undefined]);
  });

  it.each(BAD)("may not be %j", (url, fault) => {
    expect(issuerUrlFault(url, "fetched")).toMatch(fault);
    expect(issuerUrlFault(url, "given")).toMatch(fault);
  });

  it.each(LOCAL)("may be on a local network only where the admin gives its keys: %s", (url) => {
    expect(issuerUrlFault(url, "fetched")).toMatch(/full domain name|local network/);
    expect(issuerUrlFault(url, "given")).toBeUndefined();
  });

  it("may be at the origin for tests, and at no other one of this machine", () => {
    expect(issuerUrlFault(`${ORIGIN}/a`, "fetched", ORIGIN)).toBeUndefined();
    for (const url of [
      `${ORIGIN}/a?b`,
      `${ORIGIN}/a#b`,
      "http://user@127.0.0.1:9000",
      "http://127.0.0.1:9001",
      "http://localhost:9000",
    ])
      expect(issuerUrlFault(url, "fetched", ORIGIN)).toBeDefined();
    expect(issuerUrlFault(ORIGIN, "fetched")).toBeDefined();
  });

  it("is refused without any part of it in the message", () => {
    for (const url of ["http://canary.com", "https://canary", "https://canary@a.com", "https://A.com/canary", "canary"])
      expect(issuerUrlFault(url, "fetched")).not.toContain("canary");
  });
});

describe("the description of an issuer", () => {
  it.each([
    ["https://a.com", "https://a.com/.well-known/openid-configuration"],
    ["https://a.com/", "https://a.com/.well-known/openid-configuration"],
    ["https://a.com/b", "https://a.com/b/.well-known/openid-configuration"],
    ["https://a.com/b/c/", "https://a.com/b/c/.well-known/openid-configuration"],
  ])("of %s is at %s", (issuer, url) => {
    expect(discoveryUrlOf(issuer)).toBe(url);
  });
});

describe("the URL of the keys of an issuer", () => {
  it.each(["https://www.googleapis.com/oauth2/v3/certs", "https://a.com:8443/keys?p=b", "HTTPS://A.com/keys"])(
    "may be on another host, with a query: %s",
    (url) => {
      expect(keysUrlFault(url)).toBeUndefined();
    },
  );

  it.each([
    ...LOCAL,
    "http://a.com/keys",
    "https://user@a.com/keys",
    "https://a.com/keys#a",
    "/keys",
    "data:application/json,{}",
    `${ORIGIN}/keys`,
  ])("may not be %s", (url) => {
    expect(keysUrlFault(url)).toBeDefined();
  });
});
