import { messageOf, statusOf } from "../../../src/api/openapi/errors.ts";
import type { Document, Response } from "../../../src/api/openapi/types.ts";
import { FAILURE_KINDS } from "../../../src/model/failure.ts";
import { operationsOf, type Placed, resolve } from "../document.ts";
import { type Contract, readContract } from "./contract.ts";
import { type Html, html, joined } from "./html.ts";
import { kindsOf, methodOf, operationArticle } from "./operation.ts";
import { overview } from "./overview.ts";
import { inline, ruleHref } from "./prose.ts";
import { namedSchema } from "./schema.ts";
import type { Found, OnPage, Page } from "./types.ts";

/**
 * The reference of the API, as static pages: one for each group of operations, and one each for errors, schemas and the contract. They can
 * be read without their script, which adds the search, the buttons that copy, and trials on this machine (browser/reference.ts).
 */

/** `Admin: vaults` → `/docs/admin-vaults/`. */
const addressOf = (title: string): string => `/docs/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}/`;

const foundOperation = (path: string, { method, path: route, operation, parameters }: Placed): Found => [
  "operation",
  operation.summary,
  `${method} ${route}`,
  `${path}#${operation.operationId}`,
  [operation.operationId, operation.description, ...parameters.map(({ name }) => name)].join(" "),
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
    parts: operations.map(
      ({ method, operation }) => html`<a href="#${operation.operationId}">${methodOf(method)} ${operation.summary}</a>`,
    ),
  };
}

/** What a client does after an error of each status (contract 4.9, 10.14 to 10.16). */
const REACTIONS: readonly (readonly [statuses: string, reaction: string])[] = [
  ["400, 405, 413, 415, 416, 422", "Correct the request. Sent again, it gets the same answer."],
  ["401", "Get another token."],
  ["403, 404", "Check the ids and what the token may do. Outside of its scope, nothing exists for it (contract 4.6, 4.7)."],
  [
    "409",
    "The request conflicts with what is stored; the kind below says how. With `overtaken` the write took effect: read the Item (contract 10.16).",
  ],
  ["410", "Begin again with `after=latest`, and read the Items (contract 15.5)."],
  [
    "412",
    "Nothing was written, because the Item was changed since your read. Read it again, and send its new `ETag` (contract 10.3).",
  ],
  [
    "429, and 503 with `Retry-After`",
    "Nothing happened. Wait as many seconds, and send the request again (contract 4.9, 10.14).",
  ],
  [
    "500, 503 without `Retry-After`, and no answer",
    "The write may have taken effect. Send it again with the same `Idempotency-Key`; without one, read first (contract 10.15).",
  ],
  ["507", "Delete something, or ask the administrator for a higher limit (contract 4.9)."],
];

function errorsPage(document: Document, { occasions }: Contract, operations: readonly OnPage[]): Page {
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
        <p class="constraints">${occasions.get(kind)}</p>
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
    description: "An error has the schema Error, and its kind in the header `Item-Vault-Error` (contract 4.2).",
    content: html`<div class="table" role="region" aria-label="Table" tabindex="0">
        <table>
          <thead>
            <tr>
              <th>status</th>
              <th>what the client does</th>
            </tr>
          </thead>
          <tbody>
            ${REACTIONS.map(
              ([statuses, reaction]) =>
                html`<tr>
                  <td>${inline(statuses)}</td>
                  <td>${inline(reaction)}</td>
                </tr> `,
            )}
          </tbody>
        </table>
      </div>
      <h2 id="kinds"><a href="#kinds">Kinds</a></h2>
      <dl>${rows}</dl>`,
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

function contractPage({ page, rules }: Contract): Page {
  return {
    path: "/docs/contract/",
    title: "Contract",
    description: "The rules that a client can rely on. A rule keeps its number.",
    content: html`<div class="contract">${page}</div>`,
    parts: rules
      .filter(({ number }) => !number.includes("."))
      .map(({ number, title }) => html`<a href="#${number}"><b class="method">${number}</b> ${title}</a>`),
    found: rules.map(({ number, title, text }) => ["rule", number, title, ruleHref(number), text]),
  };
}

/** Returns the files of the reference by their paths in the assets. The same document and contract give the same files. */
export function referenceFiles(document: Document, contract: string): Record<string, string> {
  const read = readContract(contract);
  const groups = document.tags.map(({ name, description }) => operationsPage(document, name, description));
  const messages = operationsPage(
    document,
    "Messages to webhooks",
    "The service sends these requests to the webhooks of a vault (contract 17).",
    ({ method }) => html`${methodOf(method)} the URL of the webhook`,
  );
  const placed = groups.flatMap(({ operations, path }) => operations.map((one) => [one, path] as const));
  const pages: readonly Page[] = [
    overview(document, placed),
    ...groups,
    messages,
    errorsPage(document, read, placed),
    schemasPage(document),
    contractPage(read),
  ];
  return {
    ...Object.fromEntries(pages.map((page) => [`${page.path.slice(1)}index.html`, textOf(document, page, pages)])),
    "docs/search.json": JSON.stringify(pages.flatMap(({ found }) => found)).replaceAll("`", ""),
  };
}

/** The links to all pages. That to the page itself has its parts below it. */
const navigation = (page: Page, pages: readonly Page[]): Html =>
  html`<nav aria-label="Contents">
    <ul>
      ${pages.map(({ path, title, parts = [] }) =>
        path === page.path
          ? html`<li>
              <a href="${path}" aria-current="page">${title}</a>
              <ul>
                ${parts.map((part) => html`<li>${part}</li> `)}
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
          <a class="skip" href="#main">Skip to content</a>
          <a class="name" href="/docs/">${info.title} API <span class="version">${info.version}</span></a>
        </header>
        ${navigation(page, pages)}
        <main id="main">
          <h1>${page.title}</h1>
          ${page.description && html`<p class="lead">${inline(page.description)}</p>`}${page.content}
        </main>
      </body>
    </html> `.html;
