import type { Document, Header, Response, SecurityScheme } from "../../../src/api/openapi/types.ts";
import { resolve } from "../document.ts";
import { type Html, html, joined } from "./html.ts";
import { prose } from "./prose.ts";
import { row } from "./schema.ts";
import { TASKS } from "./tasks.ts";
import type { Found, OnPage, Page } from "./types.ts";

/** The first page of the reference: tasks, ways to authorize, and every header. */

const START = `export ITEM_VAULT_HOST=https://vault.example.com
export ITEM_VAULT_TOKEN=…
curl -sS "$ITEM_VAULT_HOST/v1/vaults" -H "Authorization: Bearer $ITEM_VAULT_TOKEN"`;

function tasks(placed: readonly OnPage[]): Html {
  const links = new Map<string, Html>(
    placed.map(([{ operation }, path]) => [
      operation.operationId,
      html`<a href="${path}#${operation.operationId}">${operation.summary}</a>`,
    ]),
  );
  return html`<pre tabindex="0" aria-label="First request"><code>${START}</code></pre>
    <p>
      The samples of all pages read these two variables, and ids from others, such as <code>VAULT</code> and <code>ITEM</code>.
    </p>
    <dl>
      ${TASKS.map(
        ({ title, text, operations }, index) =>
          html`<div id="task-${String(index + 1)}">
            <dt><b>${title}</b></dt>
            <dd>
              ${prose(text)}
              <p>
                ${joined(
                  operations.flatMap((id) => links.get(id) ?? []),
                  ", ",
                )}
              </p>
            </dd>
          </div> `,
      )}
    </dl>`;
}

const carrierOf = (scheme: SecurityScheme): string =>
  scheme.type === "http" ? `Authorization: ${scheme.scheme}` : `Cookie: ${scheme.name}`;

const authorization = ({ components }: Document): Html =>
  html`<dl>
    ${Object.entries(components.securitySchemes).map(
      ([name, scheme]) =>
        html`<div id="security-${name}">
          <dt><code>${name}</code> <span class="note">${carrierOf(scheme)}</span></dt>
          <dd>${prose(scheme.description)}</dd>
        </div> `,
    )}
  </dl>`;

/** A header under its name on the wire. */
type NamedHeader = readonly [name: string, header: Pick<Header, "schema" | "description">];

/** Merges the headers of all operations by their names: with every description, and with a schema that all of them share. */
function mergeHeaders(all: readonly NamedHeader[]): NamedHeader[] {
  return [...Map.groupBy(all, ([name]) => name)].map(([name, group]) => {
    const descriptions = [...new Set(group.map(([, { description }]) => description))];
    const longest = descriptions.filter((one) => !descriptions.some((other) => other !== one && other.startsWith(one)));
    const schemas = new Map(group.map(([, { schema }]) => [JSON.stringify(schema), schema]));
    const [schema, ...others] = schemas.values();
    return [name, { schema: others.length > 0 ? { type: "string" } : schema!, description: longest.join("\n\n") }];
  });
}

const requestHeaders = (placed: readonly OnPage[]): NamedHeader[] =>
  mergeHeaders(
    placed.flatMap(([{ parameters }]) => parameters.filter((one) => one.in === "header").map((one) => [one.name, one])),
  );

const answerHeaders = (document: Document, placed: readonly OnPage[]): NamedHeader[] =>
  mergeHeaders(
    placed
      .flatMap(([{ operation }]) => Object.values(operation.responses))
      .flatMap((response) => Object.entries(resolve<Response>(document, response).headers ?? {}))
      .map(([name, header]) => [name, resolve<Header>(document, header)]),
  );

const headerList = (list: readonly NamedHeader[], prefix: string): Html =>
  html`<dl>${list.map(([name, { schema, description }]) => row(name, schema, [], description, `${prefix}-${name}`))}</dl>`;

const headersFound = (list: readonly NamedHeader[], prefix: string): Found[] =>
  list.map(([name, { description }]) => ["header", name, description, `/docs/#${prefix}-${name}`]);

export function overview(document: Document, placed: readonly OnPage[]): Page {
  const [sent, answered] = [requestHeaders(placed), answerHeaders(document, placed)];
  const sections: readonly (readonly [id: string, title: string, content: Html])[] = [
    ["start", "Start", tasks(placed)],
    [
      "everywhere",
      "Every request",
      html`${prose(document.info.description)}
        <p>These pages are made from <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>`,
    ],
    ["security", "Authorization", authorization(document)],
    [
      "request-headers",
      "Headers of requests",
      html`<p>Besides <code>Authorization</code>, and <code>Accept: text/event-stream</code> for a stream of events:</p>
        ${headerList(sent, "request-header")}`,
    ],
    ["headers", "Headers of answers", headerList(answered, "header")],
  ];
  return {
    path: "/docs/",
    title: "Overview",
    description: document.info.summary,
    content: html`${sections.map(
      ([id, title, content]) =>
        html`<h2 id="${id}"><a href="#${id}">${title}</a></h2>
          ${content}`,
    )}`,
    parts: sections.map(([id, title]) => html`<a href="#${id}">${title}</a>`),
    found: [
      ...TASKS.map(({ title, text, words }, index): Found => ["task", title, text, `/docs/#task-${index + 1}`, words]),
      ...headersFound(sent, "request-header"),
      ...headersFound(answered, "header"),
    ],
  };
}
