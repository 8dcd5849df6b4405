/** Reports whether the service that runs on this machine, on the port of the configuration, is ready. */
import { Effect, Schema } from "effect"
import type { AccessReport } from "../forge/Access.ts"

const timeoutMillis = 3000

const Readiness = Schema.Struct({
  status: Schema.Literals(["ready", "starting", "not_ready"]),
  not_ready: Schema.optional(Schema.Array(Schema.String))
})
const decode = Schema.decodeUnknownOption(Readiness)

/** Returns nothing if no service, or another program, listens there. */
export const reportService = ({
  hostname,
  port
}: {
  readonly hostname: string
  readonly port: number
}): Effect.Effect<ReadonlyArray<AccessReport>> =>
  Effect.promise(async () => {
    const host = hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/readyz`
    const body: unknown = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(timeoutMillis) })
      .then((response) => response.json())
      .catch(() => undefined)
    const found = decode(body)
    if (found._tag === "None") return []
    const { not_ready: parts = [], status } = found.value
    if (status === "ready") return [{ level: "ok", reason: { _tag: "ServiceReady", port } }]
    const named = parts.length === 0 ? {} : { parts }
    return [
      status === "starting"
        ? { level: "warning", reason: { _tag: "ServiceWaits", port, ...named } }
        : {
            level: "error",
            reason: { _tag: "ServiceNotReady", port, ...named }
          }
    ]
  })
