import { type FieldType, typeRules } from "./field-types.ts";
import { base32, idBytes, isId } from "./ids.ts";

/** The two dialects in which tokens are issued (contract 3): all that differs between them. */

interface Rules {
  /** Formats an id, given as a canonical UUID. */
  readonly id: (id: string) => string;
  /** Formats the path of a File's content, given without a leading slash. */
  readonly contentPath: (path: string) => string;
  /** Returns the version in the answer to PUT, given the version made by the PUT. */
  readonly versionAfterPut: (version: number) => number;
  /** The form of a field's value. */
  readonly fieldValue: (type: FieldType, value: string) => string;
  /** True if a list of Items has entries for rows that cannot be decrypted (contract 11.10). Clients of Connect need a title. */
  readonly listsBroken: boolean;
}

export const DIALECTS = {
  uuid: {
    id: (id) => id,
    contentPath: (path) => path,
    versionAfterPut: (version) => version,
    fieldValue: (_, value) => value,
    listsBroken: true,
  },
  /** Accepted by the SDKs of Connect and the Terraform provider. */
  connect: {
    // A token may name vaults by texts that have the form of an id and name nothing (contract 3.3): they stay as they are.
    id: (id) => (isId(id) ? base32(idBytes(id)) : id),
    contentPath: (path) => `/${path}`,
    // The Terraform provider waits for this version + 1.
    versionAfterPut: (version) => version - 1,
    fieldValue: (type, value) => typeRules(type).connect?.(value) ?? value,
    listsBroken: false,
  },
} as const satisfies Readonly<Record<string, Rules>>;

export type Dialect = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as [Dialect, ...Dialect[]];

export const isDialect = (value: unknown): value is Dialect => typeof value === "string" && Object.hasOwn(DIALECTS, value);

/** Formats an id in the dialect. `id` is a canonical UUID, or a text that names nothing. */
export const writeId = (id: string, dialect: Dialect): string => DIALECTS[dialect].id(id);
