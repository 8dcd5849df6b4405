/** The stored log of a review: lines that name the run, without credentials, within limits. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as KeepRunLogs from "../../src/app/KeepRunLogs.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { RunLogs } from "../../src/store/RunLogs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { folder } from "../store/Folder.ts"

const token = "plain-words-that-have-no-form"
const document = {
  triggers: [
    { name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "SECRET", token_env: "TOKEN" }
  ]
}

it.live("stores lines of runs without credentials, and their number where there are too many", () =>
  Effect.gen(function* () {
    const root = yield* folder
    const config = Layer.unwrap(Effect.map(toSnapshot(document, { SECRET: "a-secret", TOKEN: token }), layerStatic))
    const records = Store.layerSqlite({ path: join(root, "svc.db"), migrate: "auto" })
    const printed: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void printed.push(JSON.stringify(message)))])
    const logging = Effect.gen(function* () {
      yield* Effect.logInfo("run started", { run_id: "one", url: `https://bot:${token}@git.test`, note: `of ${token}` })
      yield* Effect.logDebug("too detailed", { run_id: "one" })
      yield* Effect.void.pipe(Effect.withSpan("publication", { attributes: { run: "one", channel: `of ${token}` } }))
      yield* Effect.logInfo("of no run", { note: "elsewhere" })
      yield* Effect.annotateLogs(Effect.logError("review failed", new Error(`said ${token}`)), { run_id: "one" })
      yield* Effect.forEach(Array.from({ length: 100 }), () =>
        Effect.logWarning("long", { run_id: "two", x: "y".repeat(3000) })
      )
      yield* Effect.logInfo("longer", { run_id: "three", x: "y".repeat(6000) })
    })
    yield* logging.pipe(Effect.provide(KeepRunLogs.layer.pipe(Layer.provide([config, records, logger]))))
    const [one, two, three] = yield* Effect.all(
      ["one", "two", "three"].map((id) => RunLogs.use((logs) => logs.read(id)))
    ).pipe(Effect.provide(records))
    assert.deepStrictEqual(
      one?.lines.map(({ level, message }) => [level, message]),
      [
        ["info", "run started"],
        ["error", "review failed"]
      ]
    )
    const spans = yield* RunLogs.use((logs) => logs.spans("one")).pipe(Effect.provide(records))
    assert.deepStrictEqual(
      spans.map(({ channel, kind }) => [kind, channel]),
      [["publication", "of [redacted]"]]
    )
    assert.deepStrictEqual(one?.lines[0]?.fields, { url: "https://[redacted]@git.test", note: "of [redacted]" })
    const last = two?.lines.at(-1)
    assert.strictEqual(last?.message, "lines of this log dropped")
    assert.strictEqual((two?.lines.length ?? 0) - 1 + Number(last?.fields["lines"]), 100)
    assert.deepStrictEqual(three?.lines[0]?.fields, { omitted: "fields longer than 4096 characters" })
    // The loggers of the process still get every line.
    assert.isAbove(printed.length, 100)
    const files = readdirSync(root).map((name) => readFileSync(join(root, name)))
    assert.isTrue(files.some((file) => file.includes("review failed")))
    assert.isFalse(files.some((file) => file.includes(token)))
  }).pipe(Effect.scoped)
)
