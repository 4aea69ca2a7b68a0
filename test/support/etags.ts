import { expect } from "vitest";
import type { Client } from "./service.ts";

/** Entity tags of Items (contract 10.1). */

export const tagAt = (version: number): string => expect.stringMatching(new RegExp(`^"${version}-[0-9a-f]{16}"$`));

/** An entity tag of that version which no Item has. */
export const otherTag = (version: number): string => `"${version}-0123456789abcdef"`;

export const currentTag = async (call: Client, path: string): Promise<string> => (await call("GET", path)).headers.get("ETag")!;
