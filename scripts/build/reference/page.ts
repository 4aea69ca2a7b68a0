import type { Document, SecurityScheme } from "../../../src/api/openapi/types.ts";
import { operationsOf, type Placed } from "../document.ts";
import { type Html, html } from "./html.ts";
import { methodOf, operationArticle } from "./operation.ts";
import { prose } from "./prose.ts";
import { namedSchema, row } from "./schema.ts";

/** The reference page of the API: one file of static HTML, which runs no script and loads one stylesheet of its own. */

interface Section {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  readonly operations: readonly Placed[];
}

/** The operations of each tag, in the order of the tags. */
const sectionsOf = (document: Document): Section[] =>
  document.tags.map(({ name, description }) => ({
    id: `tag-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`,
    title: name,
    description,
    operations: operationsOf(document).filter(({ operation }) => operation.tags.includes(name)),
  }));

const operationLink = ({ method, operation }: Placed): Html =>
  html`<li><a href="#${operation.operationId}">${methodOf(method)} ${operation.summary}</a></li> `;

/** The table of contents. */
const contents = (sections: readonly Section[], others: readonly (readonly [id: string, title: string])[]): Html =>
  html`<nav aria-label="Contents">
    <ul>
      ${sections.map(
        ({ id, title, operations }) =>
          html`<li>
            <a href="#${id}">${title}</a>
            <ul>
              ${operations.map(operationLink)}
            </ul>
          </li> `,
      )}${others.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li> `)}
    </ul>
  </nav> `;

const section = (document: Document, { id, title, description, operations }: Section): Html =>
  html`<section id="${id}">
    <h2><a href="#${id}">${title}</a></h2>
    ${prose(description)}${operations.map((placed) => operationArticle(document, placed))}
  </section> `;

const carrierOf = (scheme: SecurityScheme): string =>
  scheme.type === "http" ? `Authorization: ${scheme.scheme}` : `Cookie: ${scheme.name}`;

function securitySection({ components }: Document): Html {
  const rows = Object.entries(components.securitySchemes).map(
    ([name, scheme]) =>
      html`<div id="security-${name}">
        <dt><code>${name}</code> <span class="note">${carrierOf(scheme)}</span></dt>
        <dd>${prose(scheme.description)}</dd>
      </div> `,
  );
  return html`<section id="security">
    <h2><a href="#security">Authorization</a></h2>
    <dl>${rows}</dl>
  </section> `;
}

function headerSection({ components }: Document): Html {
  const rows = Object.entries(components.headers).map(([name, { schema, description }]) =>
    row(name, schema, [], description, `header-${name}`),
  );
  return html`<section id="headers">
    <h2><a href="#headers">Headers of answers</a></h2>
    <dl>${rows}</dl>
  </section> `;
}

/** Returns the text of the page. The same document gives the same text. */
export function referencePage(document: Document): string {
  const { info, components, webhooks } = document;
  const sections = sectionsOf(document);
  const others = [
    ["webhooks", "Messages to webhooks"],
    ["security", "Authorization"],
    ["headers", "Headers of answers"],
    ["schemas", "Schemas"],
  ] as const;
  const messages = operationsOf(document, webhooks).map((placed) =>
    operationArticle(document, placed, html`${methodOf(placed.method)} the URL of the webhook`),
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${info.title} ${info.version}: API reference</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <header>
          <h1>${info.title} <span class="version">${info.version}</span></h1>
          <p class="lead">${info.summary}</p>
        </header>
        ${contents(sections, others)}
        <main>
          <section id="about">
            ${prose(info.description)}
            <p>This page is made from <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
          </section>
          ${sections.map((one) => section(document, one))}
          <section id="webhooks">
            <h2><a href="#webhooks">Messages to webhooks</a></h2>
            ${messages}
          </section>
          ${securitySection(document)}${headerSection(document)}
          <section id="schemas">
            <h2><a href="#schemas">Schemas</a></h2>
            ${Object.entries(components.schemas).map(([name, schema]) => namedSchema(name, schema))}
          </section>
        </main>
      </body>
    </html> `.html;
}
