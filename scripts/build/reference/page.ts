import type { Document, Response, SecurityScheme } from "../../../src/api/openapi/types.ts";
import { FAILURE_KINDS } from "../../../src/model/failure.ts";
import { messageOf, statusOf } from "../../../src/api/openapi/errors.ts";
import { operationsOf, type Placed, resolve } from "../document.ts";
import { readContract } from "./contract.ts";
import { type Html, html, joined } from "./html.ts";
import { kindsOf, methodOf, operationArticle } from "./operation.ts";
import { inline, prose, ruleHref } from "./prose.ts";
import { namedSchema, row } from "./schema.ts";

/**
 * The reference of the API, as static pages: one for each group of operations, and one each for errors, schemas and the contract. They can
 * be read without their script, which adds the search, the buttons that copy, and trials on this machine (browser/reference.ts).
 */

/** A page, and what the search finds in it. */
interface Page {
  readonly path: string;
  readonly title: string;
  readonly description?: string;
  readonly content: Html;
  readonly operations?: readonly Placed[];
  readonly found: readonly Found[];
}

/** An entry of the search, as `search.json` has it. */
export type Found = readonly [
  kind: "operation" | "schema" | "error" | "header" | "rule",
  title: string,
  detail: string,
  href: string,
];

/** `Admin: vaults` → `/docs/admin-vaults/`. */
const addressOf = (title: string): string => `/docs/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}/`;

const foundOperation = (path: string, { method, path: route, operation }: Placed): Found => [
  "operation",
  operation.summary,
  `${method} ${route}`,
  `${path}#${operation.operationId}`,
];

function operationsPage(document: Document, title: string, description: string, route?: (placed: Placed) => Html) {
  const path = addressOf(title);
  const operations = route
    ? operationsOf(document, document.webhooks)
    : operationsOf(document).filter(({ operation }) => operation.tags.includes(title));
  return {
    path,
    title,
    description,
    content: html`${operations.map((placed) => operationArticle(document, placed, route?.(placed)))}`,
    found: operations.map((placed) => foundOperation(path, placed)),
    operations,
  };
}

const carrierOf = (scheme: SecurityScheme): string =>
  scheme.type === "http" ? `Authorization: ${scheme.scheme}` : `Cookie: ${scheme.name}`;

function overview({ info, components }: Document): Page {
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, scheme]) =>
      html`<div id="security-${name}">
        <dt><code>${name}</code> <span class="note">${carrierOf(scheme)}</span></dt>
        <dd>${prose(scheme.description)}</dd>
      </div> `,
  );
  const headers = Object.entries(components.headers).map(([name, { schema, description }]) =>
    row(name, schema, [], description, `header-${name}`),
  );
  return {
    path: "/docs/",
    title: "Overview",
    description: info.summary,
    content: html`${prose(info.description)}
      <p>These pages are made from <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
      <h2 id="security"><a href="#security">Authorization</a></h2>
      <dl>${schemes}</dl>
      <h2 id="headers"><a href="#headers">Headers of answers</a></h2>
      <dl>${headers}</dl>`,
    found: Object.entries(components.headers).map(([name, { description }]) => [
      "header",
      name,
      description,
      `/docs/#header-${name}`,
    ]),
  };
}

function errorsPage(document: Document, operations: readonly (readonly [Placed, path: string])[]): Page {
  const failing = operations.map(([placed, path]) => {
    const responses = Object.values(placed.operation.responses).map((one) => resolve<Response>(document, one));
    return { placed, path, kinds: new Set(responses.flatMap(kindsOf)) };
  });
  const rows = FAILURE_KINDS.map((kind) => {
    const links = failing
      .filter(({ kinds }) => kinds.has(kind))
      .map(({ placed: { operation }, path }) => html`<a href="${path}#${operation.operationId}">${operation.summary}</a>`);
    return html`<div id="${kind}">
      <dt><code>${kind}</code> <b class="status">${String(statusOf(kind))}</b></dt>
      <dd>
        <p>${messageOf(kind)}</p>
        ${
          links.length > 0 &&
          html`<details>
            <summary>${String(links.length)} ${links.length === 1 ? "operation" : "operations"}</summary>
            <p>${joined(links, ", ")}</p>
          </details> `
        }
      </dd>
    </div> `;
  });
  return {
    path: "/docs/errors/",
    title: "Errors",
    description:
      "An error has the schema Error, and its kind in the header `Item-Vault-Error`. contract 4.3 says when each occurs.",
    content: html`<dl>${rows}</dl>`,
    found: FAILURE_KINDS.map((kind) => ["error", kind, `${statusOf(kind)} ${messageOf(kind)}`, `/docs/errors/#${kind}`]),
  };
}

function schemasPage({ components: { schemas } }: Document): Page {
  const path = "/docs/schemas/";
  return {
    path,
    title: "Schemas",
    content: html`${Object.entries(schemas).map(([name, schema]) => namedSchema(name, schema))}`,
    found: Object.entries(schemas).map(([name, { description = "" }]) => ["schema", name, description, `${path}#${name}`]),
  };
}

function contractPage(contract: string): Page {
  const { page, rules } = readContract(contract);
  return {
    path: "/docs/contract/",
    title: "Contract",
    description: "The rules that a client can rely on. A rule keeps its number.",
    content: html`<div class="contract">${page}</div>`,
    found: rules.map(({ number, title }) => ["rule", number, title, ruleHref(number)]),
  };
}

/** Returns the files of the reference by their paths in the assets. The same document and contract give the same files. */
export function referenceFiles(document: Document, contract: string): Record<string, string> {
  const groups = document.tags.map(({ name, description }) => operationsPage(document, name, description));
  const messages = operationsPage(
    document,
    "Messages to webhooks",
    "The service sends these requests to the webhooks of a vault (contract 17).",
    ({ method }) => html`${methodOf(method)} the URL of the webhook`,
  );
  const placed = groups.flatMap(({ operations, path }) => operations.map((one) => [one, path] as const));
  const pages: readonly Page[] = [
    overview(document),
    ...groups,
    messages,
    errorsPage(document, placed),
    schemasPage(document),
    contractPage(contract),
  ];
  return {
    ...Object.fromEntries(pages.map((page) => [`${page.path.slice(1)}index.html`, textOf(document, page, pages)])),
    "docs/search.json": JSON.stringify(pages.flatMap(({ found }) => found)),
  };
}

/** The links to all pages. That to the page itself has its operations below it. */
const navigation = (page: Page, pages: readonly Page[]): Html =>
  html`<nav aria-label="Contents">
    <ul>
      ${pages.map(({ path, title, operations = [] }) =>
        path === page.path
          ? html`<li>
              <a href="${path}" aria-current="page">${title}</a>
              <ul>
                ${operations.map(({ method, operation }) => html`<li><a href="#${operation.operationId}">${methodOf(method)} ${operation.summary}</a></li> `)}
              </ul>
            </li> `
          : html`<li><a href="${path}">${title}</a></li> `,
      )}
    </ul>
  </nav> `;

const textOf = ({ info }: Document, page: Page, pages: readonly Page[]): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${page.title}: ${info.title} API ${info.version}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="/console/icon.svg" />
        <link rel="stylesheet" href="/docs/style.css" />
        <script type="module" src="/docs/reference.js"></script>
      </head>
      <body>
        <header>
          <a class="name" href="/docs/">${info.title} API <span class="version">${info.version}</span></a>
        </header>
        ${navigation(page, pages)}
        <main>
          <h1>${page.title}</h1>
          ${page.description && html`<p class="lead">${inline(page.description)}</p>`}${page.content}
        </main>
      </body>
    </html> `.html;
