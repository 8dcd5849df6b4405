/** Responses that describe the administration. Anyone may request them, so each is rendered once per path prefix. */
import type { AdminResponse } from "../AdminApi.ts"
import { docsHeaders, renderDocs } from "./DocsPage.ts"
import { OpenApi } from "effect/http-api"
import packageJson from "../../../package.json" with { type: "json" }
import { AdminHttpApi } from "../api/AdminHttpApi.ts"

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
