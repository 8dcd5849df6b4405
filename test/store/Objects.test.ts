/** Behaviour of every store of objects, and of S3 with a server that is unavailable, slow or refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as FileObjects from "../../src/store/objects/FileObjects.ts"
import { Objects } from "../../src/store/Objects.ts"
import type { BucketOptions } from "../../src/store/objects/S3Bucket.ts"
import { layerS3 } from "../../src/store/objects/S3Objects.ts"
import { freePort } from "../harness/FreePort.ts"
import { s3Keys, startFakeS3 } from "../harness/FakeS3.ts"
import type { FakeS3 } from "../harness/FakeS3.ts"
import { folder } from "./Folder.ts"

const fake = Effect.acquireRelease(
  Effect.promise(() => startFakeS3()),
  (server) => Effect.promise(async () => server[Symbol.asyncDispose]())
)
const at = (url: string, over: Partial<BucketOptions> = {}) =>
  layerS3({
    bucket: "evidence",
    endpoint: url,
    region: "eu-test-1",
    accessKeyId: Redacted.make(s3Keys.id),
    secretAccessKey: Redacted.make(s3Keys.secret),
    ...over
  })

const stores = [
  { name: "files", layer: Layer.unwrap(Effect.map(folder, (root) => FileObjects.layerFiles({ root }))) },
  { name: "s3", layer: Layer.unwrap(Effect.map(fake, ({ url }) => at(url))) }
]

describe.each(stores)("objects in $name", ({ layer }) => {
  it.live("are there whole after they were put, are replaced, and are gone with their prefix", () =>
    Effect.gen(function* () {
      const objects = yield* Objects
      const text = `<&> "Añade" 中文 \u0000 ${"x".repeat(100_000)}`
      assert.isUndefined(yield* objects.get("runs/1/a.json", 10))
      assert.isFalse(yield* objects.has("runs/1/a.json"))
      yield* objects.put("runs/1/a.json", "first")
      yield* objects.put("runs/1/a.json", text)
      assert.isTrue(yield* objects.has("runs/1/a.json"))
      assert.strictEqual(yield* objects.get("runs/1/a.json", 1_000_000), text)
      yield* objects.put("empty", "")
      assert.strictEqual(yield* objects.get("empty", 10), "")

      yield* objects.put("runs/12/a.json", "a neighbour whose name begins alike")
      yield* objects.remove("runs/1")
      yield* objects.remove("runs/never")
      assert.isFalse(yield* objects.has("runs/1/a.json"))
      assert.isTrue(yield* objects.has("runs/12/a.json"))
      yield* objects.remove("runs/12/a.json")
      assert.isFalse(yield* objects.has("runs/12/a.json"))
    }).pipe(Effect.provide(layer))
  )

  it.live("one that is too large is an error, not a part of it", () =>
    Effect.gen(function* () {
      const objects = yield* Objects
      yield* objects.put("large", "x".repeat(1001))
      assert.strictEqual((yield* objects.get("large", 1001))?.length, 1001)
      const error = yield* Effect.flip(objects.get("large", 1000))
      assert.strictEqual(error.reason, "unavailable")
      assert.include(error.message, "more than 1000 bytes")
    }).pipe(Effect.provide(layer))
  )

  it.live("lists names directly under a prefix, however many", () =>
    Effect.gen(function* () {
      const objects = yield* Objects
      const names = Array.from({ length: 10 }, (_, n) => `call-${n}.json`)
      yield* Effect.forEach(names, (name) => objects.put(`runs/7/${name}`, name), { discard: true })
      yield* objects.put("runs/7/deeper/1/x.json", "{}")
      yield* objects.put("runs/7/deeper/2/x.json", "{}")
      assert.deepStrictEqual(yield* objects.list("runs/7"), [...names, "deeper"])
      assert.deepStrictEqual(yield* objects.list("runs/7/deeper"), ["1", "2"])
      assert.deepStrictEqual(yield* objects.list("nothing"), [])
      yield* objects.remove("runs/7")
      assert.deepStrictEqual(yield* objects.list("runs"), [])
    }).pipe(Effect.provide(layer))
  )

  it.live("a key that leads elsewhere is a defect", () =>
    Effect.gen(function* () {
      const objects = yield* Objects
      for (const key of ["../a", "a//b", "/a", ".hidden", "a b", ""]) {
        const exit = yield* Effect.exit(objects.put(key, "x"))
        assert.strictEqual(exit._tag === "Failure" ? exit.cause.reasons[0]?._tag : "Success", "Die")
      }
    }).pipe(Effect.provide(layer))
  )
})

describe("objects in s3", () => {
  const against = <A, E>(use: (server: FakeS3) => Effect.Effect<A, E, Objects>, over: Partial<BucketOptions> = {}) =>
    Effect.scoped(Effect.flatMap(fake, (server) => Effect.provide(use(server), at(server.url, over))))

  it.live("transient failures are retried; others name the next step", () =>
    against((server) =>
      Effect.gen(function* () {
        const objects = yield* Objects
        let faults = 3
        server.fault = () => (faults-- > 0 ? { status: 503, body: "<Error><Code>SlowDown</Code></Error>" } : undefined)
        yield* objects.put("a", "x")
        assert.strictEqual(server.objects.get("a"), "x")
        assert.lengthOf(server.requests, 4)

        server.fault = () => ({
          status: 403,
          body: "<Error><Code>AccessDenied</Code><Message>Access &lt;denied&gt;</Message></Error>"
        })
        const denied = yield* Effect.flip(objects.get("a", 10))
        assert.include(denied.message, "/evidence: AccessDenied, Access <denied>. Give this access key the right")
        assert.lengthOf(server.requests, 5)

        server.fault = () => ({ status: 500, body: "x".repeat(1_000_000) })
        assert.strictEqual((yield* Effect.flip(objects.has("a"))).reason, "unavailable")
      })
    )
  )

  it.live("a wrong secret, a missing bucket and an unavailable server are distinguished, without the secret", () =>
    Effect.gen(function* () {
      const get = () => Objects.use((objects) => Effect.flip(objects.get("a", 10)))
      const secret = "not-the-secret-of-this-account"
      const wrong = yield* against(get, { secretAccessKey: Redacted.make(secret) })
      assert.include(wrong.message, "SignatureDoesNotMatch")
      assert.include(wrong.message, "secret_access_key_env")
      const missing = yield* against(get, { bucket: "other" })
      assert.include(missing.message, "NoSuchBucket")
      const port = yield* Effect.promise(freePort)
      const away = yield* Effect.provide(
        Objects.use((objects) => Effect.flip(objects.put("a", "x"))),
        at(`http://127.0.0.1:${port}`)
      )
      assert.include(away.message, `S3 127.0.0.1:${port}/evidence: connect ECONNREFUSED`)
      const nowhere = yield* Effect.flip(Effect.scoped(Layer.build(at("s3.example.com"))))
      assert.include(nowhere.message, "invalid endpoint URL")
      for (const { message } of [wrong, missing, away, nowhere]) {
        for (const part of [secret, s3Keys.secret, s3Keys.id]) assert.notInclude(message, part)
      }
    })
  )
})
