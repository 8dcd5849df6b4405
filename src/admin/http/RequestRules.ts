/** Checks requests before their handlers run, and converts errors of decoding to responses that name every wrong field. */
import { Effect, Layer, SchemaAST, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { HttpApiEndpoint } from "effect/http-api"
import { because, Forbidden, invalidAll, BadRequest, invalid, UnsupportedMediaType } from "../api/Problems.ts"
import { ValidRequest } from "../api/Rules.ts"
import { Caller } from "../sessions/Caller.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { AdminRequest } from "../AdminApi.ts"
import { isStorable } from "../../domain/Text.ts"
import { measureJson } from "../../domain/JsonShape.ts"

/** Checks the body of a request before it is decoded: JSON in UTF-8, of bounded depth, with text that stores accept. Pure. */

/** Maximum number of nested objects and arrays. */
export const maxDepth = 64

/** Returns the path of the first text that a store refuses. */
const findUnstorable = (value: unknown, path: string): string | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : path
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return path
    const found = findUnstorable(inner, path === "" ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

const notJson = (reason: Reason) => new BadRequest({ code: "invalid_json", ...because(reason) })

const parse = (body: Uint8Array): unknown => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body)
    return measureJson(text, { depth: maxDepth, values: Number.POSITIVE_INFINITY }) === undefined
      ? notJson({ _tag: "BodyTooDeep", count: maxDepth })
      : JSON.parse(text)
  } catch {
    return notJson({ _tag: "BodyNotJson" })
  }
}

/** Returns the error of a body; undefined if it can be decoded. An empty body counts as `{}`. */
export const checkBody = (
  body: Uint8Array,
  contentType: string | undefined,
  takesBody: boolean
): BadRequest | UnsupportedMediaType | undefined => {
  if (body.length === 0) return undefined
  if (!takesBody) return invalid("", { _tag: "NoBodyExpected" })
  if (contentType?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    return new UnsupportedMediaType({
      code: "unsupported_media_type",
      ...because({ _tag: "JsonExpected" })
    })
  }
  const value = parse(body)
  if (value instanceof BadRequest) return value
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return invalid("", { _tag: "ObjectExpected" })
  const path = findUnstorable(value, "")
  return path === undefined ? undefined : invalid(path, { _tag: "TextNotStorable" })
}

/** Checks the names of query parameters, so that a misspelt filter is not ignored. Pure. */

const problemOf = (query: URLSearchParams, name: string, known: ReadonlyArray<string>): Reason | undefined => {
  if (!known.includes(name))
    return known.length === 0 ? { _tag: "ParameterNotTaken" } : { _tag: "ParameterUnknown", names: known }
  if (query.getAll(name).length > 1) return { _tag: "GivenTwice" }
  return isStorable(query.get(name) ?? "") ? undefined : { _tag: "TextNotStorable" }
}

/** Returns the error of a query; undefined if each parameter is known and given once. */
const checkQuery = (query: URLSearchParams, known: ReadonlyArray<string>): BadRequest | undefined => {
  const [first, ...others] = [...new Set(query.keys())].flatMap((name) => {
    const reason = problemOf(query, name, known)
    return reason === undefined ? [] : [{ path: name.slice(0, 100), reason }]
  })
  return first === undefined ? undefined : invalidAll([first, ...others])
}

/** Returns the parameters that have a value. An empty one counts as missing. */
const withoutEmpty = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].filter(([, value]) => value !== ""))

/** Decides whether a browser sent a request on behalf of another site. Pure. */

const single = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : undefined

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

/**
 * Returns whether the request comes from a page of another site. Browsers report the relation in `sec-fetch-site`; older ones send only
 * `origin`, which is compared with `host`. Programs send neither.
 */
export const isCrossOrigin = ({ headers }: Pick<AdminRequest, "headers">): boolean => {
  const site = single(headers["sec-fetch-site"])
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  const origin = single(headers["origin"])
  return origin !== undefined && hostOf(origin) !== single(headers["host"])?.toLowerCase()
}

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

/** Lists the issues of decoding. Their messages name the expected value and never the received one. */
export const listIssues = (
  issue: SchemaIssue.Issue
): ReadonlyArray<{ readonly path: string; readonly reason: Reason }> =>
  format(issue).issues.map(({ message, path = [] }) => ({
    path: path.map(segment).join(".").slice(0, 200),
    reason: wording[message] ?? verbatimReason(`${message.charAt(0).toLowerCase()}${message.slice(1)}`)
  }))

const toBadRequest = ({ cause }: HttpApiError.HttpApiSchemaError): BadRequest => {
  const found = listIssues(cause.issue)
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
