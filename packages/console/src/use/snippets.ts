/** Lines that use a field or a File in other programs: they name it, and never have its value. Pure. */

/** A field or a File, with the names and ids by which programs find it. */
export interface Target {
  /** The origin of the service. */
  readonly host: string;
  /** Ids in the form of 26 characters, which every client takes. */
  readonly vault: string;
  readonly item: string;
  readonly id: string;
  readonly kind: "field" | "otp" | "file";
  readonly title: string;
  readonly name: string;
  readonly purpose?: string | undefined;
  /** The label of its section. */
  readonly section?: string | undefined;
  /** Absent if its name and id have characters that references do not allow. */
  readonly reference?: string | undefined;
}

interface Snippet {
  readonly name: string;
  readonly language: keyof typeof QUOTES | "text";
  readonly note?: string;
  /** Returns undefined if the program cannot reach the target. */
  readonly format: (target: Target) => string | undefined;
}

/** Quotes, backslashes, and hidden characters, which could make a line look like another one. */
const ESCAPED = /["\\]|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** Returns a function that writes a literal in double quotes. `long` escapes a code point above U+FFFF. */
const doubleQuotes =
  (long: (code: number) => string) =>
  (text: string): string =>
    `"${text.replaceAll(ESCAPED, (character) => {
      const code = character.codePointAt(0)!;
      if (code > 0xffff) return long(code);
      return character === '"' || character === "\\" ? `\\${character}` : `\\u${hex(code, 4)}`;
    })}"`;

const surrogates = (code: number): string =>
  [0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff)].map((unit) => `\\u${hex(unit, 4)}`).join("");

const json = doubleQuotes(surrogates); // RFC 8259 section 7; also a literal of JavaScript and of jq
const yaml = doubleQuotes((code) => `\\U${hex(code, 8)}`); // YAML 1.2 section 5.7; those of HCL are the same

/** Each language's literal of a text. */
export const QUOTES = {
  /** POSIX shell, section 2.2.2. */
  sh: (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  /** PowerShell takes the typographic quotes as quotes too. */
  powershell: (text: string): string => `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`,
  js: json,
  yaml,
  /** A workflow evaluates expressions in every text; in an expression, a literal has single quotes. */
  github: (text: string): string => yaml(text.includes("${{") ? `\${{ '${text.replaceAll("'", "''")}' }}` : text),
  /** HCL evaluates templates in literals. */
  hcl: (text: string): string => yaml(text).replaceAll(/[$%](?=\{)/g, "$&$&"),
} as const;

const { sh, powershell, github, hcl } = QUOTES;

/** Returns a format for targets that have a reference. For a one-time password it stands for the code. */
const byReference =
  (format: (reference: string, target: Target) => string) =>
  (target: Target): string | undefined =>
    target.reference === undefined
      ? undefined
      : format(`${target.reference}${target.kind === "otp" ? "?attribute=otp" : ""}`, target);

export const SNIPPETS: readonly Snippet[] = [
  { name: "Reference", language: "text", format: byReference((reference) => reference) },
  { name: "Command line", language: "sh", format: byReference((reference) => `item-vault read ${sh(reference)}`) },
  {
    name: "Run a program",
    language: "sh",
    note: "The program gets the value in its environment.",
    format: byReference((reference) => `SECRET=${sh(reference)} item-vault run -- ./deploy`),
  },
  {
    name: "PowerShell",
    language: "powershell",
    format: byReference((reference) => `$env:SECRET = ${powershell(reference)}\nitem-vault run -- ./deploy`),
  },
  {
    name: "GitHub Actions",
    language: "github",
    note: "The job needs the permission id-token: write, and a rule for it under Workloads.",
    format: byReference(
      (reference, { host }) => `- uses: OWNER/item-vault/action@<commit>
  with:
    host: ${github(host)}
    package: \${{ vars.ITEM_VAULT_PACKAGE }}
- run: npx --yes --package "\${PACKAGE:?}" item-vault run -- ./deploy
  env:
    PACKAGE: \${{ vars.ITEM_VAULT_PACKAGE }}
    SECRET: ${github(reference)}`,
    ),
  },
  {
    name: "Kubernetes, 1Password operator",
    language: "yaml",
    note: "The Secret gets all fields of the item.",
    format: ({ vault, item }) => `apiVersion: onepassword.com/v1
kind: OnePasswordItem
metadata:
  name: ${yaml(`item-${item}`)}
spec:
  itemPath: ${yaml(`vaults/${vault}/items/${item}`)}`,
  },
  {
    name: "Kubernetes, External Secrets",
    language: "yaml",
    note: "The title must be unique in the vaults of the store, and the name in the item.",
    format: ({ item, title, name }) =>
      title === "" || name === ""
        ? undefined
        : `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: ${yaml(`item-${item}`)}
spec:
  secretStoreRef:
    kind: SecretStore
    name: item-vault
  data:
    - secretKey: secret
      remoteRef:
        key: ${yaml(title)}
        property: ${yaml(name)}`,
  },
  {
    name: "Terraform",
    language: "hcl",
    note: "Values land in the state. Store it encrypted, and limit who can read it.",
    format: (target) => {
      const attribute = attributeOf(target);
      if (attribute === undefined) return undefined;
      return `data "onepassword_item" "item" {
  vault = ${hcl(target.vault)}
  uuid  = ${hcl(target.item)}
}

output "secret" {
  value     = data.onepassword_item.item${attribute}
  sensitive = true
}`;
    },
  },
  {
    name: "curl",
    language: "sh",
    format: ({ host, vault, item, id, kind }) => {
      const path = `${host}/v1/vaults/${vault}/items/${item}`;
      const curl = 'curl -sS --fail -H "Authorization: Bearer $OP_CONNECT_TOKEN"';
      if (kind === "file") return `${curl} -o file ${sh(`${path}/files/${encodeURIComponent(id)}/content`)}`;
      const property = kind === "otp" ? "totp" : "value";
      return `${curl} ${sh(path)} |\n  jq -r ${sh(`.fields[] | select(.id == ${json(id)}).${property}`)}`;
    },
  },
  {
    name: "JavaScript SDK",
    language: "js",
    format: ({ vault, item, id, kind }) => `import { OnePasswordConnect } from "@1password/connect";

const { OP_CONNECT_HOST, OP_CONNECT_TOKEN } = process.env;
const client = OnePasswordConnect({ serverURL: OP_CONNECT_HOST, token: OP_CONNECT_TOKEN });
${
  kind === "file"
    ? `const content = await client.getFileContentStream(${json(vault)}, ${json(item)}, ${json(id)});`
    : `const item = await client.getItem(${json(vault)}, ${json(item)});
const secret = item.fields.find(({ id }) => id === ${json(id)}).${kind === "otp" ? "otp" : "value"};`
}`,
  },
];

/** Returns the attribute of the provider's data source that has the value; undefined if none has. */
function attributeOf({ purpose = "", section, name, kind }: Target): string | undefined {
  const own = { PASSWORD: ".password", USERNAME: ".username", NOTES: ".note_value" }[purpose];
  if (own !== undefined || section === undefined || kind === "file") return own;
  return `.section_map[${hcl(section)}].field_map[${hcl(name)}].value`;
}
