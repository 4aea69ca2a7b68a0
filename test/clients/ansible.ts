import { formEscape } from "./encodings.ts";
import { connectVault, requester } from "./replay.ts";

/** The headers that the modules of the Ansible collection send, and the bodies that they build from a task. */

const ANSIBLE = {
  "User-Agent": "op-connect-ansible/2.2.1 Python/3.11.7 Ansible/2.16.3",
  "Content-Type": "application/json",
  Accept: "application/json",
};

export async function ansible(name?: string) {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(ANSIBLE, fresh.token) };
}

export const titleQuery = (title: string) => `filter=${formEscape(`title eq "${title}"`)}`;

export const PLAIN = { section: null, recipe: null, generate: false };
export const GENERATE = { recipe: { length: 16, characterSets: ["DIGITS", "LETTERS"] }, generate: true, value: null };
export const INFO = { id: "5ad1b3c0-7f0e-4c43-9c2c-8a4d9e1f6b27", label: "Personal Info" }; // str(uuid4()) in the module, which differs each time

/**
 * The body that the module builds from a task. Fields have no ids, sections have the ids of the task, and absent values are
 * null.
 */
export const task = (vault: string, fields: object[], more: object = {}) => ({
  title: "Club Membership",
  vault: { id: vault },
  category: "API_CREDENTIAL",
  urls: [],
  tags: [],
  fields,
  favorite: false,
  ...more,
});
export const codeword = { type: "CONCEALED", label: "Codeword", ...PLAIN, value: "hunter2", purpose: "" };
export const randomCode = { type: "CONCEALED", label: "Random Code", section: { id: INFO.id }, ...GENERATE, purpose: "" };
