/** Responses that describe the administration. Anyone may request them, so each is rendered once per path prefix. */
import { OpenApi } from "effect/http-api"
import type { AdminResponse } from "../AdminApi.ts"
import { escapeHtml } from "../../domain/EscapeHtml.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"

/** Formats a JSON schema as indented text: one field per line with its type, and its description behind it. */

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const schemasPath = "#/components/schemas/"

/** Levels of nested records; deeper ones are named only. */
const maxLevels = 4

class SchemaFormatter {
  readonly #schemas: Node

  constructor(schemas: Node) {
    this.#schemas = schemas
  }

  /** Returns the schema that a reference names. */
  #resolve(schema: unknown): Node {
    const reference = isNode(schema) ? schema["$ref"] : undefined
    const found = typeof reference === "string" ? this.#schemas[reference.slice(schemasPath.length)] : schema
    return isNode(found) ? found : {}
  }

  format(given: unknown, level: number): string {
    const schema = this.#resolve(given)
    const options = listOf(schema["anyOf"] ?? schema["oneOf"])
    if (options.length > 0) return [...new Set(options.map((option) => this.format(option, level)))].join(" | ")
    const values = listOf(schema["enum"])
    if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(" | ")
    if (schema["type"] === "array") return `[${this.format(schema["items"], level)}]`
    if (schema["type"] === "object") return this.#formatObject(schema, level)
    return typeof schema["type"] === "string" ? schema["type"] : "any"
  }

  #formatObject(schema: Node, level: number): string {
    const properties = isNode(schema["properties"]) ? Object.entries(schema["properties"]) : []
    if (properties.length === 0) {
      const rest = schema["additionalProperties"]
      return isNode(rest) ? `{ [name]: ${this.format(rest, level)} }` : "{}"
    }
    if (level >= maxLevels) return "{ … }"
    const required = new Set(listOf(schema["required"]))
    const indent = "  ".repeat(level + 1)
    const lines = properties.map(([name, inner]) => {
      const { description } = this.#resolve(inner)
      const note = typeof description === "string" ? `  // ${description}` : ""
      return `${indent}${name}${required.has(name) ? "" : "?"}: ${this.format(inner, level + 1)}${note}`
    })
    return `{\n${lines.join("\n")}\n${"  ".repeat(level)}}`
  }
}

const renderSchema = (schema: unknown, schemas: Node): string => new SchemaFormatter(schemas).format(schema, 0)

import packageJson from "../../../package.json" with { type: "json" }

/**
 * Renders the OpenAPI document as a page: one file without scripts and without anything from other servers, so that it works under a strict
 * content security policy and without a network.
 */
const docsHeaders = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer"
}

const style = `
  body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; margin: 0; background: #f6f7f9; color: #1c2128 }
  main { max-width: 60rem; margin: 2rem auto; padding: 0 1.5rem 3rem } h1, h2, h3 { font-weight: 600 } h2 { margin-top: 2.5rem }
  details { background: #fff; border: 1px solid #dde2e8; border-radius: 6px; margin: .5rem 0; padding: .5rem 1rem }
  summary { cursor: pointer } p { color: #5f6b7a } a { color: #2f6fdb }
  code, pre { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, monospace } code { background: #eef0f3; padding: 0 .3em; border-radius: 4px }
  pre { background: #eef0f3; border-radius: 6px; padding: .75rem; overflow-x: auto }
  table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0 }
  .method { display: inline-block; min-width: 3.5em; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    body { background: #0f1318; color: #e4e8ee } details { background: #171c23; border-color: #2a323c }
    p { color: #94a0af } a { color: #76a9ff } code, pre { background: #222933 }
  }`

/** Renders text in which backquotes mark code. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>")

type Operation = OpenApi.OpenAPISpecOperation
type Schemas = OpenApi.OpenAPISpec["components"]["schemas"]

const renderParameters = ({ parameters }: Operation): string => {
  if (parameters.length === 0) return ""
  const rows = parameters.map(
    ({ in: place, name, required, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${place}${required ? ", required" : ""}</td><td>${prose(
        "description" in schema && typeof schema.description === "string" ? schema.description : ""
      )}</td></tr>`
  )
  return `<h4>Parameters</h4><table>${rows.join("")}</table>`
}

const renderContent = (content: OpenApi.OpenApiSpecContent | undefined, schemas: Schemas): string =>
  Object.entries(content ?? {})
    .map(([type, media]) =>
      media?.schema === undefined
        ? ""
        : `<p>${escapeHtml(type)}</p><pre>${escapeHtml(renderSchema(media.schema, schemas))}</pre>`
    )
    .join("")

const renderResponses = ({ responses }: Operation, schemas: Schemas): string =>
  Object.entries(responses)
    .map(([status, { content, description }]) =>
      Number(status) < 400
        ? `<h4>${status}</h4>${renderContent(content, schemas)}`
        : `<p><code>${status}</code> ${escapeHtml(description)}</p>`
    )
    .join("")

const renderOperation = (method: string, path: string, operation: Operation, schemas: Schemas): string => `
<details>
<summary><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code> ${prose(operation.summary ?? "")}</summary>
<p>${prose(operation.description ?? "")}</p>
${renderParameters(operation)}
${operation.requestBody === undefined ? "" : `<h4>Body</h4>${renderContent(operation.requestBody.content, schemas)}`}
${renderResponses(operation, schemas)}
</details>`

const methods = ["get", "post", "put", "patch", "delete"] as const

const renderDocs = ({ components, info, paths, tags }: OpenApi.OpenAPISpec, prefix: string): string => {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ method, path, operation }]
    })
  )
  const sections = tags.map(({ description = "", name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    const rendered = own.map(({ method, operation, path }) =>
      renderOperation(method, `${prefix}${path}`, operation, components.schemas)
    )
    return `<h2>${escapeHtml(name)}</h2><p>${prose(description)}</p>${rendered.join("")}`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(info.title)}</title>
<style>${style}</style>
<main>
<h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>
<p>${prose(info.description ?? "")}</p>
<p>For programs: <a href="${escapeHtml(prefix)}/api/openapi.json">openapi.json</a></p>
${sections.join("\n")}
</main>
</html>
`
}

/** Describes the administration as an OpenAPI document. */

/** Returns the document. `prefix` is the normalised `server.path_prefix`. */
const describeApi = (prefix: string): OpenApi.OpenAPISpec => {
  const document = OpenApi.fromApi(AdminHttpApi)
  return {
    ...document,
    info: { ...document.info, version: packageJson.version },
    ...(prefix === "" ? {} : { servers: [{ url: prefix }] })
  }
}

/** Responses of programs and of pages without login; they contain nothing confidential. */
const publicHeaders = { "cache-control": "no-cache", "x-content-type-options": "nosniff" }

const oncePerPrefix = (render: (prefix: string) => AdminResponse): ((prefix: string) => AdminResponse) => {
  const rendered = new Map<string, AdminResponse>()
  return (prefix) => {
    const response = rendered.get(prefix) ?? render(prefix)
    rendered.set(prefix, response)
    return response
  }
}

/** `prefix` is the normalised `server.path_prefix`. */
export const makeDescription = () => ({
  openApi: oncePerPrefix((prefix) => ({
    status: 200,
    contentType: "application/json",
    body: JSON.stringify(describeApi(prefix)),
    headers: publicHeaders
  })),
  docs: oncePerPrefix((prefix) => ({
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: renderDocs(describeApi(prefix), prefix),
    headers: { ...publicHeaders, ...docsHeaders }
  }))
})
