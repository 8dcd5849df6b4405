/** Checks requests before their handlers run, and converts errors of decoding to responses that name every wrong field. */
import { Effect, Layer, SchemaAST, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { HttpApiEndpoint } from "effect/http-api"
import { because, Forbidden, invalidAll } from "../api/Problems.ts"
import type { BadRequest } from "../api/Problems.ts"
import { ValidRequest } from "../api/Rules.ts"
import { Caller } from "../sessions/Caller.ts"
import { checkQuery, withoutEmpty } from "./QueryRules.ts"
import { checkBody } from "./RequestBody.ts"
import { isCrossOrigin } from "./SameOrigin.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"

const crossOrigin = new Forbidden({
  code: "cross_origin",
  ...because({ _tag: "CrossOrigin" })
})

/** Returns the names of the query parameters of an endpoint. */
const parametersOf = ({ query }: HttpApiEndpoint.Top): ReadonlyArray<string> => {
  if (query === undefined) return []
  const ast = SchemaAST.toEncoded(query.ast)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const segment = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === "object" ? part.key : part)

/** Names of the formatter that say less than a caller needs. */
const wording: Readonly<Record<string, Reason>> = {
  "Expected no excess property": { _tag: "FieldUnknown" },
  "Missing key": { _tag: "FieldMissing" }
}

/** Converts the issues of decoding. Their messages name the expected value and never the received one. */
const toBadRequest = ({ cause }: HttpApiError.HttpApiSchemaError): BadRequest => {
  const found = format(cause.issue).issues.map(({ message, path = [] }) => ({
    path: path.map(segment).join(".").slice(0, 200),
    reason: wording[message] ?? verbatimReason(`${message.charAt(0).toLowerCase()}${message.slice(1)}`)
  }))
  const [first = { path: "", reason: { _tag: "RequestInvalid" } as const }, ...others] = found
  return invalidAll([first, ...others.slice(0, 99)])
}

const isRequestError = (error: unknown): error is HttpApiError.HttpApiSchemaError =>
  HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"

const check = (endpoint: HttpApiEndpoint.Top) =>
  Effect.gen(function* () {
    const { request } = yield* Caller
    if (request.method !== "GET" && request.method !== "HEAD" && isCrossOrigin(request)) return yield* crossOrigin
    const contentType = request.headers["content-type"]
    const found =
      checkQuery(request.query, parametersOf(endpoint)) ??
      checkBody(request.body, typeof contentType === "string" ? contentType : undefined, endpoint.payload.size > 0)
    return found === undefined ? withoutEmpty(request.query) : yield* found
  })

export const layer = Layer.succeed(
  ValidRequest,
  ValidRequest.of((handled, { endpoint }) =>
    Effect.flatMap(check(endpoint), (query) =>
      handled.pipe(
        Effect.provideService(HttpServerRequest.ParsedSearchParams, query),
        Effect.catch((error) => Effect.fail(isRequestError(error) ? toBadRequest(error) : error))
      )
    )
  )
)
