/** Processes that are killed (SIGKILL) between any two calls of the stores: repeating the call completes it, once. */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import * as Store from "../../../src/store/Store.ts"
import { layerSql } from "../../../src/store/source/SqlSource.ts"
import { editorOn, sealingKey, writeConfig } from "../../harness/ConfigSource.ts"
import { edits, literal } from "./KilledEdits.ts"

const script = join(import.meta.dirname, "SourceChild.ts")
const newKey = "22".repeat(32)
const keys = {
  old: { SVC_CONFIG_SECRETS_KEY: sealingKey },
  both: { SVC_CONFIG_SECRETS_KEY: newKey, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
}

interface Place {
  readonly database: string
  readonly file: string
}

const makePlace = (): Place => ({
  database: join(mkdtempSync(join(tmpdir(), "aicr-killed-")), "aicr.db"),
  file: writeConfig({})
})

/** Returns true if the process was killed, false if it completed. */
const run = (place: Place, env: Readonly<Record<string, string>>, action: string, killAt: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", script, place.database, place.file, action, String(killAt)],
      { env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../node_modules/.cache/aicr-tests"), ...env } }
    )
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)))
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`it ended with ${code}: ${said}`))
    })
  })

/** Opens the place in this process. */
const at = <A, E>(
  { database, file }: Place,
  env: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, ConfigEditor | RevisionStore>
) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.provide(
        effect,
        editorOn(file, env, "node-2").pipe(
          Layer.provideMerge(layerSql("default")),
          Layer.provide(Store.layerSqlite({ path: database, migrate: "auto" }))
        )
      )
    )
  )

const bytesOf = ({ database }: Place): string =>
  readdirSync(join(database, ".."))
    .map((name) => readFileSync(join(database, "..", name), "latin1"))
    .join("")

/** Kills the action after its first call, its second call and so on, each in a place of its own, until it completes before. */
const killEverywhere = async (
  env: Readonly<Record<string, string>>,
  action: string,
  prepare: (place: Place) => Promise<unknown>,
  check: (place: Place, killAt: number) => Promise<void>
): Promise<number> => {
  for (let killAt = 1; ; killAt++) {
    const place = makePlace()
    await prepare(place)
    const wasKilled = await run(place, env, action, killAt)
    assert.isFalse(await run(place, env, action, 0))
    await check(place, killAt)
    if (!wasKilled) return killAt - 1
  }
}

const publishFirst = (place: Place) =>
  at(
    place,
    keys.old,
    ConfigEditor.use((editor) => editor.publish("alice", edits.first))
  )

describe("a killed process", () => {
  it("publishes an operation once, when it is repeated", async () => {
    const kills = await killEverywhere(
      keys.old,
      "publish",
      () => Promise.resolve(),
      async (place) => {
        const { history, operation } = await at(
          place,
          keys.old,
          Effect.gen(function* () {
            const { items } = yield* (yield* RevisionStore).list({ limit: 9 })
            return { history: items, operation: yield* (yield* RevisionStore).operation("first") }
          })
        )
        assert.deepStrictEqual(
          history.map(({ number, operationId, parent }) => [number, parent, operationId]),
          [[1, 0, "first"]]
        )
        assert.deepInclude(operation?.result, { _tag: "Committed", revision: 1 })
        assert.notInclude(bytesOf(place), literal)
      }
    )
    assert.isAtLeast(kills, 4)
  }, 240_000)

  it("activates the newest revision at its next start", async () => {
    const kills = await killEverywhere(keys.old, "follow", publishFirst, async (place) => {
      const { nodes } = await at(
        place,
        keys.old,
        ConfigEditor.use((editor) => editor.status)
      )
      assert.deepInclude(
        nodes.find(({ node }) => node === "node-1"),
        { state: "active", active: 1, revision: 1 }
      )
    })
    assert.isAtLeast(kills, 3)
  }, 240_000)

  it("seals every credential with the current key, when it is repeated", async () => {
    const prepare = (place: Place) =>
      at(
        place,
        keys.old,
        Effect.gen(function* () {
          const editor = yield* ConfigEditor
          yield* editor.publish("alice", edits.first)
          yield* editor.publish("alice", edits.second)
          yield* editor.createDraft("alice", { title: "d", reason: "", base: 2, operations: edits.third.operations })
        })
      )
    const kills = await killEverywhere(keys.both, "reseal", prepare, async (place) => {
      const only = { SVC_CONFIG_SECRETS_KEY: newKey }
      const { diff, draft, opened } = await at(
        place,
        only,
        Effect.gen(function* () {
          const editor = yield* ConfigEditor
          const back = yield* editor.previewRestore(1)
          const id = (yield* editor.drafts)[0]?.id ?? ""
          yield* editor.restore("alice", { revision: 1, operationId: "back" })
          const status = yield* editor.status
          const published = yield* editor.publishDraft("alice", id, { operationId: "draft", version: 2 })
          return { diff: back?.diff, draft: published, opened: status.nodes.map(({ state }) => state) }
        })
      )
      // The credential of both revisions is still the same one.
      assert.deepStrictEqual(
        diff?.map(({ names }) => names),
        [["triggers/second", "enabled"]]
      )
      assert.include(opened, "active")
      assert.strictEqual(draft._tag, "Committed")
    })
    assert.isAtLeast(kills, 6)
  }, 240_000)
})
