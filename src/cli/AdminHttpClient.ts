/** Builds the client of the administration over a function that sends calls. */
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientResponse, UrlParams } from "effect/http"
import type { HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { AdminHttpApi } from "../admin/api/AdminHttpApi.ts"
import { ExitWith } from "./Exit.ts"
import type { AdminCall, AdminClient, AdminReply, SendCall } from "./AdminCall.ts"

const toCall = ({ body, method, url, urlParams }: HttpClientRequest.HttpClientRequest): AdminCall => {
  const query = UrlParams.toString(urlParams)
  return {
    method,
    path: query === "" ? url : `${url}?${query}`,
    body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined
  }
}

const toResponse = (request: HttpClientRequest.HttpClientRequest, { headers, status, text }: AdminReply) =>
  HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, { status, headers }))

export const makeAdminClient = (send: SendCall): Effect.Effect<AdminClient> =>
  HttpApiClient.makeWith(AdminHttpApi, {
    httpClient: HttpClient.makeWith(
      (requested: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.flatMap(requested, (request) =>
          Effect.map(send(toCall(request)), (reply) => toResponse(request, reply))
        ),
      Effect.succeed
    ),
    // A SchemaError of the client itself is one of the arguments of a call.
    transformResponse: Effect.mapError((error) =>
      Schema.isSchemaError(error)
        ? new ExitWith({
            code: 3,
            message: `the response of the service has another form, perhaps of another version: ${error.message}`
          })
        : error
    )
  })
