import { describe, expect, it } from "vitest";
import { contract } from "../support/contract.ts";
import { citedIn, testsOf } from "../support/rules.ts";
import { testFiles } from "./test-files.ts";

describe("each number of the contract", () => {
  it.each([...testsOf(contract, testFiles)])("%s is cited by a test", (_, tests) => {
    expect(tests).not.toEqual([]);
  });
});

describe("the citations of a text", () => {
  it.each([
    // Numbers that the contract does not have: a citation here proves nothing.
    ["contract 94.3", ["94.3"]],
    ["Contract 93.5 to 93.7: pages", ["93.5", "93.6", "93.7"]],
    ["contract 98.16, 98.17 and 99.1", ["98.16", "98.17", "99.1"]],
    ["contract 97", []],
  ])("%s", (text, numbers) => {
    expect(citedIn(text)).toEqual(numbers);
  });
});
