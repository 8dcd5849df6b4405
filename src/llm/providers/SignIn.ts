/** Exchanges a credential for a token: decodes the response, and converts a failure to the form that Failure.ts reads. */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Option, Schema } from "effect"

export const signIn = async <A>(
  fetch: FetchFunction,
  url: string,
  init: RequestInit,
  shape: Schema.Decoder<A>,
  what: string
): Promise<A> => {
  const { APICallError } = await import("ai")
  const response = await fetch(url, init)
  const text = await response.text()
  const failed = (message: string) =>
    new APICallError({
      message,
      url,
      requestBodyValues: {},
      statusCode: response.status,
      responseHeaders: Object.fromEntries(response.headers),
      responseBody: text.slice(0, 2000)
    })
  if (!response.ok) throw failed(`${what} was refused: ${text.slice(0, 200)}`)
  const decoded = Schema.decodeUnknownOption(Schema.fromJsonString(shape))(text)
  if (Option.isNone(decoded)) throw failed(`${what} gave no token`)
  return decoded.value
}
