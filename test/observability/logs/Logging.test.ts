import { PassThrough } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import { Cause, ConfigProvider, Data, Effect, Exit, Layer, Redacted, Schema } from "effect"
import * as Logging from "../../../src/observability/logs/Logging.ts"

class Broken extends Data.TaggedError("Broken")<{ readonly message: string; readonly operation: string }> {}

/** Returns the log of a program. */
const written = <A, E>(
  program: Effect.Effect<A, E>,
  options: Partial<Logging.LoggingOptions> = {}
): Effect.Effect<string> => {
  const destination = new PassThrough()
  return Effect.exit(program).pipe(
    Effect.provide(Logging.layerWith({ level: "trace", pretty: false, destination, ...options })),
    Effect.map(() => String(destination.read() ?? ""))
  )
}

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const lines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Schema.decodeUnknownSync(Line)(line))

const line = <A, E>(program: Effect.Effect<A, E>, options: Partial<Logging.LoggingOptions> = {}) =>
  Effect.map(written(program, options), (text) => {
    const all = lines(text)
    expect(all).toHaveLength(1)
    return all[0] ?? {}
  })

describe("a line", () => {
  it.effect("carries level, time, text, data, annotations and the ids of its span", () =>
    Effect.gen(function* () {
      const found = yield* line(
        Effect.logWarning("two", "words", { count: 2, nested: { at: new Date(0) } }).pipe(
          Effect.annotateLogs({ run: "r1", level: "mine" }),
          Effect.withLogSpan("checkout"),
          Effect.withSpan("review")
        )
      )
      expect(found).toMatchObject({
        level: "warn",
        msg: "two words",
        count: 2,
        nested: { at: "1970-01-01T00:00:00.000Z" },
        run: "r1",
        annotation_level: "mine",
        trace: expect.stringMatching(/^[0-9a-f]{32}$/),
        span: expect.stringMatching(/^[0-9a-f]{16}$/),
        spans: { checkout: expect.stringMatching(/^\d+ ms$/) }
      })
      expect(found["time"]).toEqual(expect.any(Number))
    })
  )

  it.effect("has messages of other programs without the period at their end", () =>
    Effect.gen(function* () {
      const found = yield* line(
        Effect.logWarning("call failed", { error: "Invalid key. ", reason: "Gone..", text: "Kept." })
      )
      expect(found).toMatchObject({ error: "Invalid key", reason: "Gone", text: "Kept." })
    })
  )

  it.effect("shows an error of a cause with type, message and stack", () =>
    Effect.gen(function* () {
      const failed = Effect.fail(new Broken({ message: "disk full", operation: "store" }))
      const found = yield* line(Effect.catchCause(failed, (cause) => Effect.logError("could not store", cause)))
      expect(found).toMatchObject({ level: "error", msg: "could not store" })
      expect(found["err"]).toMatchObject({
        type: "Broken",
        message: "disk full",
        stack: expect.stringContaining("Logging.test.ts")
      })
    })
  )

  it.effect("shows every error of a cause, and of a thrown one the cause beneath", () =>
    Effect.gen(function* () {
      const both = Cause.combine(Cause.fail(new Error("first")), Cause.die(new Error("second", { cause: "deeper" })))
      const found = yield* line(Effect.logError("twice", both))
      expect(found["err"]).toMatchObject([{ message: "first" }, { message: "second" }])
      expect(JSON.stringify(found["err"])).toContain("deeper")
    })
  )

  it.effect("does not call an interruption an error", () =>
    Effect.gen(function* () {
      const found = yield* line(Effect.logInfo("stopped", Cause.interrupt(7)))
      expect(found).toMatchObject({ interrupted: true })
      expect(found).not.toHaveProperty("err")
    })
  )

  it.effect("is for people on a terminal: the text, then the fields", () =>
    Effect.gen(function* () {
      const text = yield* written(Effect.logInfo("ready").pipe(Effect.annotateLogs("port", 8080)), { pretty: true })
      expect(text).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready\n\s+port: 8080\n$/)
    })
  )
})

describe("credentials", () => {
  it.effect.each<readonly [string, unknown]>([
    ["a redacted value", { key: Redacted.make("hunter2hunter2") }],
    ["a field named password", { password: "hunter2hunter2" }],
    ["a field named in camel case", { apiKey: "hunter2hunter2", webhookSecret: "hunter2hunter2" }],
    ["a header", { headers: { Authorization: "hunter2hunter2", "x-api-key": "hunter2hunter2" } }],
    ["a parameter of a URL", { url: "https://chat.example/hook?room=1&token=hunter2hunter2#end" }],
    ["a parameter of a URL object", { url: new URL("https://git.example/x?private_token=hunter2hunter2") }],
    ["a signed URL in a text", "refused: https://store.example/a?X-Amz-Signature=hunter2hunter2"],
    ["a key of a URL in a message of an error", new Error("https://model.example/v1?key=hunter2hunter2 refused")],
    ["a list of secrets", { secret: ["hunter2hunter2"] }],
    ["a URL with user information", { url: new URL("https://bot:hunter2hunter2@git.example/x") }],
    ["a URL in a text", "fatal: unable to access 'https://bot:hunter2hunter2@git.example/x.git'"],
    ["an authorization in a text", "sent Authorization: Basic hunter2hunter2="],
    ["a key block in a text", "-----BEGIN RSA PRIVATE KEY-----\nhunter2hunter2\n"],
    ["a host's token in a text", "used ghp_hunter2hunter2hunter2"],
    ["a message of an error", new Error("https://hunter2hunter2@git.example refused")],
    ["a field of an error", Object.assign(new Error("refused"), { token: "hunter2hunter2" })],
    ["a map", { held: new Map([["token", "hunter2hunter2"]]) }]
  ])("never in a line: %s", ([, value]) =>
    Effect.gen(function* () {
      for (const pretty of [false, true]) {
        const text = yield* written(
          Effect.logInfo("x", value).pipe(
            Effect.andThen(Effect.logInfo("y").pipe(Effect.annotateLogs({ note: value })))
          ),
          { pretty }
        )
        expect(text).not.toContain("hunter2")
        expect(text.toLowerCase()).toContain("redacted")
      }
    })
  )

  it.effect("keeps what only sounds like one", () =>
    Effect.gen(function* () {
      const found = yield* line(
        Effect.logInfo("basic authentication is off", {
          inputTokens: 12,
          token: 3,
          has_secret: false,
          repo: "a/token-x",
          url: "https://git.example/acme/app/pulls/7?tokens=3&page=2#issuecomment-4"
        })
      )
      expect(found).toMatchObject({
        msg: "basic authentication is off",
        inputTokens: 12,
        token: 3,
        has_secret: false,
        repo: "a/token-x",
        url: "https://git.example/acme/app/pulls/7?tokens=3&page=2#issuecomment-4"
      })
    })
  )
})

describe("characters that control a terminal", () => {
  it.effect.each<readonly [string, unknown]>([
    ["a field", { branch: "x\u001b[2J\r\u009b31m\u202eend" }],
    ["the name of a field", { ["x\u001b[2J\r\u009b31m\u202eend"]: 1 }],
    ["a text", "x\u001b[2J\r\u009b31m\u202eend"],
    ["an error", new Error("x\u001b[2J\r\u009b31m\u202eend")]
  ])("are written out: in %s", ([, value]) =>
    Effect.gen(function* () {
      for (const pretty of [false, true]) {
        const text = yield* written(Effect.logInfo("x", value), { pretty })
        // eslint-disable-next-line no-control-regex
        expect(text).not.toMatch(/[\r\u001b\u009b\u202e]/)
        expect(text).toMatch(/x\\+u001b\[2J\\+u000d\\+u009b31m\\+u202eend/)
      }
    })
  )
})

describe("size", () => {
  it.effect("is bounded in depth, length and number, cycles included", () =>
    Effect.gen(function* () {
      const circle: Record<string, unknown> = {
        name: "x".repeat(100_000),
        list: Array.from({ length: 1000 }, (_, at) => at)
      }
      circle["self"] = circle
      const text = yield* written(Effect.logInfo("big", circle))
      expect(text.length).toBeLessThan(80_000)
      expect(text).toContain("… 950 more")
      expect(text).toContain("(100000 characters)")
    })
  )
})

describe("SVC_LOG_LEVEL", () => {
  const started = (env: Record<string, string>) =>
    Effect.exit(Effect.scoped(Layer.build(Logging.layer))).pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
    )

  it.effect("holds back what is below it", () =>
    Effect.gen(function* () {
      const program = Effect.logInfo("low").pipe(Effect.andThen(Effect.logWarning("high")))
      expect(lines(yield* written(program, { level: "warn" })).map((found) => found["msg"])).toEqual(["high"])
      expect(yield* written(program, { level: "silent" })).toBe("")
    })
  )

  it.effect("is info when unset, and refused when there is no such level", () =>
    Effect.gen(function* () {
      expect(Exit.isSuccess(yield* started({}))).toBe(true)
      expect(Exit.isSuccess(yield* started({ SVC_LOG_LEVEL: "debug" }))).toBe(true)
      const refused = yield* started({ SVC_LOG_LEVEL: "loud" })
      expect(Exit.isFailure(refused) && Cause.pretty(refused.cause)).toContain(
        "SVC_LOG_LEVEL: unknown level; use one of trace, debug, info, warn, error, fatal, silent"
      )
    })
  )
})
