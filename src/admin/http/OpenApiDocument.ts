/** Describes the administration as an OpenAPI document. */
import { OpenApi } from "effect/http-api"
import packageJson from "../../../package.json" with { type: "json" }
import { AdminHttpApi } from "../api/AdminHttpApi.ts"

/** Returns the document. `prefix` is the normalised `server.path_prefix`. */
export const describeApi = (prefix: string): OpenApi.OpenAPISpec => {
  const document = OpenApi.fromApi(AdminHttpApi)
  return {
    ...document,
    info: { ...document.info, version: packageJson.version },
    ...(prefix === "" ? {} : { servers: [{ url: prefix }] })
  }
}
