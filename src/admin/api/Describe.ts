/** Adds the summary and the description of an endpoint to the OpenAPI document. */
import { OpenApi } from "effect/http-api"

export const describe = (summary: string, description: string) => OpenApi.annotations({ summary, description })
