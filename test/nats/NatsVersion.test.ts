/** Tests which versions of nats-server are refused, as a table and by connections to a server of such a version. */
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { explainVersion } from "../../nats/NatsVersion.ts"
import { toSettings } from "./Cluster.ts"

/** Sends the first messages of a nats-server of this version. */
const serverOf = (version: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => {
        const info = { server_id: "x", server_name: "x", version, max_payload: 1_048_576, headers: true, proto: 1 }
        socket.write(`INFO ${JSON.stringify(info)}\r\n`)
        socket.on("data", (bytes) => {
          for (const _ of bytes.toString().matchAll(/PING\r\n/g)) socket.write("PONG\r\n")
        })
        socket.on("error", () => undefined)
      })
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve)
      })
      return server
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => `nats://127.0.0.1:${(server.address() as AddressInfo).port}`))

const connect = (url: string, replicas: string) =>
  Effect.scoped(
    Layer.build(
      NatsConnection.layer({
        settings: toSettings({ SVC_NATS_URL: url, SVC_NATS_REPLICAS: replicas }),
        name: "test",
        connectWithin: "5 seconds"
      })
    )
  )

describe("explainVersion", () => {
  it.each([
    ["2.9.20", true],
    ["2.9.20-beta.1", true],
    ["2.9.10", true],
    ["2.8.4", true],
    ["1.4.1", true],
    ["2.9.21", false],
    ["2.9.25", false],
    ["2.10.0-RC.1", false],
    ["2.11.4", false],
    ["3.0.0", false]
  ])("%s with several replicas is refused: %s", (version, isRefused) => {
    assert.strictEqual(explainVersion(version, 3) !== undefined, isRefused)
    assert.isUndefined(explainVersion(version, 1))
  })

  it.live("a node does not start with several replicas on such a server, and names the version to use", () =>
    Effect.gen(function* () {
      const earlier = yield* serverOf("2.9.20")
      const error = yield* Effect.flip(connect(earlier, "3"))
      assert.strictEqual(error.reason, "unsupported")
      assert.include(error.message, "Install nats-server 2.9.21 or newer")
      yield* connect(earlier, "1")
      yield* connect(yield* serverOf("2.9.21"), "3")
    }).pipe(Effect.scoped)
  )
})
