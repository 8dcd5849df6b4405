/**
 * GitHub's GraphQL API, for operations that the REST API lacks. It reports errors with status 200; this file maps each to the
 * status of the REST API, so that rate limits close the token and refusals produce the same messages. Pure.
 */
import { Option, Schema } from "effect"
import type { HostResponse } from "../HostResponse.ts"
import { means } from "../http/HostWords.ts"

/**
 * Returns the parent URL of `/graphql`: `https://api.github.com`, or `https://HOST/api` for the `https://HOST/api/v3` of
 * Enterprise Server.
 */
export const graphqlRoot = (apiUrl: string): string => apiUrl.replace(/\/v3$/, "")

const Errors = Schema.fromJsonString(
  Schema.Struct({
    errors: Schema.Array(
      Schema.Struct({
        type: Schema.optional(Schema.NullOr(Schema.String)),
        message: Schema.optional(Schema.NullOr(Schema.String))
      })
    )
  })
)
const decodeErrors = Schema.decodeUnknownOption(Errors)

const statuses: ReadonlyMap<string, number> = new Map([
  ["RATE_LIMITED", 429],
  ["RATE_LIMIT", 429],
  ["FORBIDDEN", 403],
  ["INSUFFICIENT_SCOPES", 403],
  ["NOT_FOUND", 404],
  ["SERVICE_UNAVAILABLE", 503]
])

/** Returns the effective status of a successful response. */
export const graphqlStatus = ({ status, body }: Pick<HostResponse, "status" | "body">): number => {
  const errors = Option.match(decodeErrors(body), { onNone: () => [], onSome: (decoded) => decoded.errors })
  const [first] = errors
  if (first === undefined) return status
  if (errors.some(({ message }) => means(message ?? "", "githubLimits"))) return 429
  return statuses.get(first.type ?? "") ?? 422
}
