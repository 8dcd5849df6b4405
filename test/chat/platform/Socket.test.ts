/** A socket of a chat platform, whose messages are not taken. */
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WebSocketServer } from "ws"
import type { WebSocket } from "ws"
import { openSocket } from "../../../src/chat/platform/Socket.ts"

/** A platform that sends `count` messages to each connection, and the connections. */
const startPlatform = (count: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
      const connected = new Promise<WebSocket>((resolve) => {
        server.on("connection", (socket) => {
          for (let n = 1; n <= count; n++) socket.send(String(n))
          resolve(socket)
        })
      })
      await once(server, "listening")
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      return { server, connected, url: `ws://127.0.0.1:${port}` }
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        for (const client of server.clients) client.terminate()
        server.close(() => resume(Effect.void))
      })
  )

describe("messages that wait", () => {
  it.live("end the connection above 1,000", () =>
    Effect.gen(function* () {
      const platform = yield* startPlatform(1001)
      const closed = platform.connected.then((socket) => once(socket, "close"))
      const socket = yield* openSocket(platform.url)
      yield* Effect.promise(() => closed)
      for (let n = 1; n <= 1000; n++) assert.strictEqual(yield* socket.take, String(n))
      const end = yield* Effect.flip(socket.take)
      assert.strictEqual(end.message, "too many messages of the long connection wait")
    }).pipe(Effect.scoped)
  )

  it.live("are all taken up to 1,000", () =>
    Effect.gen(function* () {
      const platform = yield* startPlatform(1000)
      const ponged = platform.connected.then((socket) => {
        socket.ping()
        return once(socket, "pong")
      })
      const socket = yield* openSocket(platform.url)
      // The pong follows the messages.
      yield* Effect.promise(() => ponged)
      for (let n = 1; n <= 1000; n++) assert.strictEqual(yield* socket.take, String(n))
      yield* socket.send("open")
    }).pipe(Effect.scoped)
  )
})
