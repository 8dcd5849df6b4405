/**
 * Client of the administration of a service, and its one transport: HTTP to the address of the service, or to the socket file that it serves on
 * this machine (src/admin/http/LocalSocket.ts).
 */
import { request as requestHttp } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { request as requestHttps } from "node:https"
import { userInfo } from "node:os"
import { Effect, Redacted, Schema } from "effect"
import { HttpClient, HttpClientResponse, UrlParams } from "effect/http"
import type { HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { AdminHttpApi, adminPath } from "../admin/api/AdminHttpApi.ts"
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

/** The address of a service. The user who may open the socket needs no token. */
type AdminEndpoint = { readonly url: string; readonly token?: Redacted.Redacted } | { readonly socketPath: string }

const timeoutMillis = 15_000
const maxReplyBytes = 64 * 1024 * 1024

/** Returns the name for the log of the service. A container may have no name for its user. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return "local"
  }
}

const identify = (endpoint: AdminEndpoint): Record<string, string> => {
  if ("socketPath" in endpoint) return { "x-aicr-user": userName() }
  return endpoint.token === undefined ? {} : { authorization: `Bearer ${Redacted.value(endpoint.token)}` }
}

const toSingleValues = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))
  )

const readReply = async (response: IncomingMessage): Promise<AdminReply> => {
  const status = response.statusCode ?? 0
  if (status >= 300 && status < 400) throw new Error(`it redirects to another address (status ${status})`)
  const blocks: Array<Buffer> = []
  let bytes = 0
  for await (const block of response) {
    bytes += block.length
    if (bytes > maxReplyBytes) throw new Error(`its response has more than ${maxReplyBytes} bytes`)
    blocks.push(block)
  }
  return { status, headers: toSingleValues(response.headers), text: Buffer.concat(blocks).toString("utf8") }
}

const send = (endpoint: AdminEndpoint, { body, method, path }: AdminCall, signal: AbortSignal): Promise<AdminReply> =>
  new Promise((done, failed) => {
    const headers = { ...identify(endpoint), "content-type": "application/json" }
    const receive = (response: IncomingMessage) => void readReply(response).then(done, failed)
    const outgoing =
      "socketPath" in endpoint
        ? requestHttp({ socketPath: endpoint.socketPath, path, method, headers, signal }, receive)
        : (endpoint.url.startsWith("https:") ? requestHttps : requestHttp)(
            `${endpoint.url}${path}`,
            { method, headers, signal },
            receive
          )
    outgoing.once("error", failed)
    outgoing.end(body)
  })

const describeFailure = (cause: unknown, timeout: AbortSignal): string => {
  if (timeout.aborted) return `no response within ${timeoutMillis / 1000} seconds`
  if (!(cause instanceof Error)) return "the connection failed"
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message
}

/** Sends calls to a service; a call fails if the service does not respond. */
export const sendTo =
  (endpoint: AdminEndpoint): SendCall =>
  (call) =>
    Effect.suspend(() => {
      const timeout = AbortSignal.timeout(timeoutMillis)
      const where = "socketPath" in endpoint ? endpoint.socketPath : endpoint.url
      return Effect.tryPromise({
        try: (signal) => send(endpoint, call, AbortSignal.any([signal, timeout])),
        catch: (cause) =>
          new ExitWith({
            code: 3,
            message: `no service responds at ${where}: ${describeFailure(cause, timeout)}; start it, or name its address with --url`
          })
      })
    })

/** Returns whether the error means that no process listens on the file. */
const isUnserved = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ECONNREFUSED" || cause.code === "ENOENT")

/** Returns the first of the sockets that a process listens on. */
export const findServed = (socketPaths: ReadonlyArray<string>): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    for (const socketPath of socketPaths) {
      const probe = { method: "GET", path: `${adminPath}/nodes`, body: undefined }
      try {
        await send({ socketPath }, probe, AbortSignal.timeout(timeoutMillis))
        return socketPath
      } catch (cause) {
        // A service that listens but fails is the one to use; its error is reported by the command.
        if (!isUnserved(cause)) return socketPath
      }
    }
    return undefined
  })
