/** The Web API of Slack (docs.slack.dev) for one token. Writes are JSON, reads have their arguments in the query. */
import { Effect, Redacted } from "effect"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { readPages } from "../members/DirectoryReader.ts"
import { callPlatform, callWithHeaders } from "../platform/PlatformCall.ts"
import { textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"

export interface SlackToken {
  /** Address of the API, `https://slack.com/api`. */
  readonly baseUrl: string
  readonly token: Redacted.Redacted
}

export interface SlackApi {
  readonly read: (method: string, query: Readonly<Record<string, string>>) => Effect.Effect<JsonObject, ForgeError>
  /** Reads all pages of a list. */
  readonly readAll: (
    method: string,
    query: Readonly<Record<string, string>>,
    items: (page: JsonObject) => ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<unknown>, ForgeError>
  readonly write: (method: string, body: object) => Effect.Effect<JsonObject, ForgeError>
  /** Reads the scopes of the token; undefined if the response does not name them. */
  readonly scopes: Effect.Effect<ReadonlySet<string> | undefined, ForgeError>
}

export const makeSlackApi = ({ baseUrl, token }: SlackToken): SlackApi => {
  const secrets = [Redacted.value(token)]
  const headers = { authorization: `Bearer ${Redacted.value(token)}` }
  const read: SlackApi["read"] = (method, query) =>
    callPlatform({
      operation: `GET ${method}`,
      method: "GET",
      url: `${baseUrl}/${method}?${new URLSearchParams(query)}`,
      headers,
      writes: false,
      secrets
    })
  const post = (method: string, body: object) => ({
    operation: `POST ${method}`,
    method: "POST" as const,
    url: `${baseUrl}/${method}`,
    headers,
    body,
    writes: true,
    secrets
  })
  return {
    read,
    readAll: (method, query, items) =>
      readPages(`GET ${method}`, (cursor) =>
        Effect.map(read(method, { ...query, limit: "200", ...(cursor === "" ? {} : { cursor }) }), (page) => ({
          items: items(page),
          next: textAt(page, ["response_metadata", "next_cursor"], 2048)
        }))
      ),
    write: (method, body) => callPlatform(post(method, body)),
    scopes: Effect.map(callWithHeaders(post("auth.test", {})), ({ headers: { "x-oauth-scopes": names } }) =>
      names === undefined ? undefined : new Set(names.split(",").map((name) => name.trim()))
    )
  }
}
