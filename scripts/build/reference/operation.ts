import type {
  Document,
  Header,
  MediaType,
  OperationObject,
  Parameter,
  Reference,
  Response,
} from "../../../src/api/openapi/types.ts";
import { type Placed, resolve } from "../document.ts";
import { type Html, html, joined } from "./html.ts";
import { inline, prose, withCode } from "./prose.ts";
import { samplesOf } from "./samples.ts";
import { row, typeLine, wholeSchema } from "./schema.ts";

/** One operation: its route, who may call it, and what goes in and out. */

/** A path that a narrow screen can break before each of its parts. */
export const pathOf = (path: string): Html => html`<code>${path.split(/(?=\/)/).map((part) => html`<wbr />${part}`)}</code>`;

export const methodOf = (method: string): Html => html`<b class="method ${method.toLowerCase()}">${method}</b>`;

/** Who may send the request, in words: from `security` and the permission. */
function access({ security, "x-permission": permission }: OperationObject): Html {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.length === 0) return html`<p class="access">Needs no token.</p>`;
  const links = joined(
    schemes.map((name) => html`<a href="/docs/#security-${name}">${name}</a>`),
    " or ",
  );
  const letters = html`<a href="/docs/schemas/#Permission"><code>${permission}</code></a>`;
  return html`<p class="access">Authorization: ${links}${permission !== undefined && html` with permission ${letters}`}.</p>`;
}

function parameters(list: readonly Parameter[]): Html | undefined {
  if (list.length === 0) return undefined;
  const rows = list.map(({ name, in: place, required, schema, description }) =>
    row(name, schema, [place, ...(required ? ["required"] : [])], description),
  );
  return html`<h3>Parameters</h3>
    <dl>${rows}</dl>`;
}

/** The text of an example: JSON, or text as it is. */
const exampleText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, undefined, 2));

function examples({ example, examples: named = {} }: MediaType): Html {
  const all = [...(example === undefined ? [] : [{ value: example, summary: "Example" }]), ...Object.values(named)];
  return html`${all.map(
    ({ summary = "Example", value }) =>
      html`<p class="label">${inline(summary)}</p>
        <pre><code>${exampleText(value)}</code></pre> `,
  )}`;
}

/** A body: for each media type its schema and examples. */
const content = (document: Document, media: Readonly<Record<string, MediaType>>): Html =>
  html`${Object.entries(media).map(
    ([type, one]) =>
      html`<p class="label"><code>${type}</code> ${typeLine(one.schema)}</p>
        ${wholeSchema(document, one.schema)}${examples(one)}`,
  )}`;

function headers(list: Readonly<Record<string, Header | Reference>> = {}): Html | undefined {
  const names = Object.keys(list).map((name) => html`<a href="/docs/#header-${name}"><code>${name}</code></a>`);
  return names.length === 0 ? undefined : html`<p class="headers">Headers: ${joined(names, ", ")}</p>`;
}

const isError = (status: string): boolean => /^[45]/.test(status);

const answer = (document: Document, status: string, response: Response): Html =>
  html`<details>
    <summary><b class="status">${status}</b> ${withCode(response.description)}</summary>
    ${headers(response.headers)}${content(document, response.content ?? {})}
  </details> `;

/** The kinds of errors with which an answer can come. */
export const kindsOf = ({ headers: list = {} }: Response): readonly string[] => {
  const header = list["Item-Vault-Error"];
  return header === undefined || "$ref" in header ? [] : (header.schema.enum as readonly string[]);
};

/** The statuses of errors with their kinds, which the page of errors explains. */
function errors(list: readonly (readonly [string, Response])[]): Html | undefined {
  if (list.length === 0) return undefined;
  const rows = list.map(([status, response]) => {
    const links = kindsOf(response).map((kind) => html`<a href="/docs/errors/#${kind}"><code>${kind}</code></a>`);
    return html`<div>
      <dt><b class="status">${status}</b></dt>
      <dd>${joined(links, ", ")}</dd>
    </div> `;
  });
  return html`<details>
    <summary>Errors</summary>
    <dl class="errors">${rows}</dl>
  </details> `;
}

/** Samples of one request. The first one is open. */
const samples = (placed: Placed): Html[] =>
  samplesOf(placed).map(
    ({ language, text }, index) =>
      html`<details class="sample" name="sample-${placed.operation.operationId}" ${index === 0 ? html`open=""` : undefined}>
        <summary>${language}</summary>
        <pre tabindex="0" aria-label="${language}"><code>${text}</code></pre>
      </details> `,
  );

/** What the script of the page needs to send a GET: its route, and the names in its query. */
function trial({ method, path, operation, parameters: list }: Placed): Html | undefined {
  if (method !== "GET") return undefined;
  const query = list.filter(({ in: place }) => place === "query").map(({ name }) => name);
  const needsToken = operation.security.length > 0;
  return html`data-path="${path}" data-query="${query.join(" ")}"${needsToken ? html` data-token=""` : undefined}`;
}

/** `route`: what is shown in place of a method and a path, of a request that the service sends. */
export function operationArticle(document: Document, placed: Placed, route?: Html): Html {
  const { method, path, operation, parameters: list } = placed;
  const { operationId, summary, description, requestBody, responses } = operation;
  const answers = Object.entries(responses).map(([status, one]) => [status, resolve<Response>(document, one)] as const);
  return html`<article id="${operationId}" ${route === undefined ? trial(placed) : undefined}>
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="route">${route ?? html`${methodOf(method)} ${pathOf(path)}`}</p>
    ${prose(description)}${access(operation)}${route === undefined ? samples(placed) : undefined}${parameters(list)}
    ${
      requestBody &&
      html`<details>
        <summary>Request body${requestBody.required ? "" : " (optional)"}</summary>
        ${prose(requestBody.description)}${content(document, requestBody.content)}
      </details> `
    }${answers.filter(([status]) => !isError(status)).map(([status, one]) => answer(document, status, one))}${errors(answers.filter(([status]) => isError(status)))}
  </article> `;
}
