/** The ports of a node whose start fails and is repeated, and of one that stops. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { AwaitedServers } from "../../src/ingress/AwaitedServers.ts"
import { OpenPorts } from "../../src/ingress/OpenPorts.ts"
import * as Responses from "../../src/ingress/Responses.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { open, post } from "./Raw.ts"

const ports = OpenPorts.layer({ port: 0 }).pipe(
  Layer.provide([AwaitedServers.layer, layerStatic(testSnapshot({}))]),
  Layer.merge(Logger.layer([]))
)

/** Returns the status of `/readyz`, or undefined if the connection is refused. */
const readiness = (url: string) =>
  Effect.promise(() =>
    fetch(`${url}/readyz`, { headers: { connection: "close" } }).then(
      ({ status }) => status,
      () => undefined
    )
  )

it.live.each<[string, Exit.Exit<void, string>, number | undefined]>([
  ["a failed start leaves them open, for the next attempt", Exit.fail("disconnected"), 503],
  ["a stop closes them", Exit.interrupt(), undefined],
  ["an end closes them", Exit.void, undefined]
])("%s", ([, end, expected]) =>
  Effect.gen(function* () {
    const { serve, url } = yield* OpenPorts
    assert.strictEqual(yield* readiness(url), 503)
    const scope = yield* Scope.make()
    yield* serve(() => Responses.health(200, { status: "ready" })).pipe(Scope.provide(scope))
    assert.strictEqual(yield* readiness(url), 200)
    yield* Scope.close(scope, end)
    assert.strictEqual(yield* readiness(url), expected)
  }).pipe(Effect.provide(ports))
)

it.live("a starting node accepts no delivery and reads no body", () =>
  Effect.gen(function* () {
    const { port } = yield* OpenPorts
    for (const path of ["/webhooks/gitea", "/triggers/manual", "/api/admin/login"]) {
      const connection = open(port)
      connection.socket.write(post(path, { "content-length": 1_000_000, expect: "100-continue" }))
      const answer = yield* Effect.promise(() => connection.answer)
      connection.socket.destroy()
      assert.deepStrictEqual([path, answer?.status], [path, 503])
      assert.notInclude(connection.received(), "100 Continue")
    }
  }).pipe(Effect.provide(ports))
)
