/** Client of the administration on a local socket (src/admin/http/LocalSocket.ts). */
import { request } from "node:http"
import type { IncomingHttpHeaders } from "node:http"
import { userInfo } from "node:os"
import { Effect } from "effect"
import type { AdminCall, AdminReply, SendCall } from "./AdminCall.ts"
import { adminPath } from "../admin/api/AdminHttpApi.ts"
import { ExitWith } from "./Exit.ts"

const timeoutMillis = 15_000

/** Returns the name for the log of the service. A container may have no name for its user. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return "local"
  }
}

const toSingleValues = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))
  )

const send = (socketPath: string, call: AdminCall): Promise<AdminReply> =>
  new Promise((done, failed) => {
    const outgoing = request(
      {
        socketPath,
        path: call.path,
        method: call.method,
        headers: { "x-aicr-user": userName(), "content-type": "application/json" },
        timeout: timeoutMillis
      },
      (response) => {
        const blocks: Array<Buffer> = []
        response.on("data", (block: Buffer) => blocks.push(block))
        response.once("error", failed)
        response.once("end", () => {
          done({
            status: response.statusCode ?? 0,
            headers: toSingleValues(response.headers),
            text: Buffer.concat(blocks).toString("utf8")
          })
        })
      }
    )
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no response within ${timeoutMillis / 1000} seconds`)))
    outgoing.once("error", failed)
    outgoing.end(call.body)
  })

/** Returns whether the error means that no process listens on the file. */
const isUnserved = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ECONNREFUSED" || cause.code === "ENOENT")

/** Sends a call through the socket; fails if the service does not respond. */
export const sendThrough =
  (socketPath: string): SendCall =>
  (call) =>
    Effect.tryPromise({
      try: () => send(socketPath, call),
      catch: (cause) =>
        new ExitWith({
          code: 3,
          message: `the service at ${socketPath} does not respond: ${cause instanceof Error ? cause.message : String(cause)}`
        })
    })

/** Returns the first of the sockets that a process listens on. */
export const findServed = (socketPaths: ReadonlyArray<string>): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    for (const path of socketPaths) {
      try {
        await send(path, { method: "GET", path: `${adminPath}/nodes`, body: undefined })
        return path
      } catch (cause) {
        // A service that listens but fails is the one to use; its error is reported by the command.
        if (!isUnserved(cause)) return path
      }
    }
    return undefined
  })
