/** Processes that are killed (SIGKILL) between any two calls of the stores: repeating the call completes it, once. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { bundledScript, compiledCode } from "../../harness/BundledScript.ts"
import { editorOn, resealAll, sealingKey, writeConfig } from "../../harness/ConfigSource.ts"
import { backends, openStores } from "../../store/source/Backends.ts"
import type { Backend, BackendKind } from "../../store/source/Backends.ts"
import { edits, literal } from "./KilledEdits.ts"

const script = bundledScript(join(import.meta.dirname, "SourceChild.ts"))
const newKey = "22".repeat(32)
const keys = {
  old: { SVC_CONFIG_SECRETS_KEY: sealingKey },
  both: { SVC_CONFIG_SECRETS_KEY: newKey, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
}

interface Place {
  readonly backend: Backend
  readonly file: string
}

/** Returns true if the process was killed, false if it completed. */
const run = async (
  { backend: { address, kind }, file }: Place,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
): Promise<boolean> => {
  const started = [await script, kind, address, file, ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...started], {
      env: { NODE_COMPILE_CACHE: compiledCode, ...env }
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)))
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`it ended with ${code}: ${said}`))
    })
  })
}

/** Opens the place in this process, as the next node. */
const at = <A, E>(
  { backend: { address, kind }, file }: Place,
  env: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, ConfigEditor | RevisionStore>,
  node = "node-2"
) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.provide(effect, editorOn(file, env, node).pipe(Layer.provideMerge(openStores(kind, address, "default"))))
    )
  )

const holdsSecret = async ({ backend }: Place): Promise<boolean> =>
  (await backend.files()).some((file) => file.includes(literal))

interface Killed {
  readonly env: Readonly<Record<string, string>>
  readonly action: string
  readonly prepare: (place: Place) => Promise<unknown>
  /** Repeats the action. */
  readonly repeat: Effect.Effect<unknown, unknown, ConfigEditor>
  readonly check: (place: Place) => Promise<void>
}

/**
 * Kills the action after its first call, its second call and so on, each in a database of its own, until it completes before. It is every third
 * call, or on servers, where this takes longer, every seventh, unless AICR_TEST_KILLS is set.
 */
const killEverywhere = async (kind: BackendKind, { action, check, env, prepare, repeat }: Killed): Promise<number> => {
  const step = process.env["AICR_TEST_KILLS"] !== undefined ? 1 : kind === "sqlite" ? 3 : 7
  for (let killAt = 1; ; killAt += step) {
    const place = await makePlace(kind)
    await prepare(place)
    const wasKilled = await run(place, env, action, String(killAt))
    if (wasKilled) await at(place, env, repeat, "node-1")
    await check(place)
    if (!wasKilled) return killAt - 1
  }
}

const makePlace = async (kind: BackendKind): Promise<Place> => {
  const { make } = backends.find((one) => one.kind === kind) ?? assert.fail(kind)
  return { backend: await make(), file: writeConfig({}) }
}

const publishFirst = (place: Place) =>
  at(
    place,
    keys.old,
    ConfigEditor.use((editor) => editor.publish("alice", edits.first))
  )

const publishing: Killed = {
  env: keys.old,
  action: "publish",
  prepare: () => Promise.resolve(),
  repeat: ConfigEditor.use((editor) => editor.publish("alice", edits.first)),
  check: async (place) => {
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
    assert.isFalse(await holdsSecret(place))
  }
}

const following: Killed = {
  env: keys.old,
  action: "follow",
  prepare: publishFirst,
  repeat: ConfigEditor.use((editor) => editor.status),
  check: async (place) => {
    const { nodes } = await at(
      place,
      keys.old,
      ConfigEditor.use((editor) => editor.status)
    )
    assert.deepInclude(
      nodes.find(({ node }) => node === "node-1"),
      { state: "active", active: 1, revision: 1 }
    )
  }
}

const resealing: Killed = {
  env: keys.both,
  action: "reseal",
  prepare: (place) =>
    at(
      place,
      keys.old,
      Effect.gen(function* () {
        const editor = yield* ConfigEditor
        yield* editor.publish("alice", edits.first)
        yield* editor.publish("alice", edits.second)
        yield* editor.createDraft("alice", { title: "d", reason: "", base: 2, operations: edits.third.operations })
      })
    ),
  repeat: ConfigEditor.use((editor) => resealAll(editor, "alice")),
  check: async (place) => {
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
  }
}

/** Minimum numbers of calls. A call of the store in Redis is one command or one script, which Redis runs whole or not at all. */
const minimum = { publish: 4, follow: 3, reseal: 14 }

describe.each(["sqlite", "postgres", "redis"] as const)("a killed process, in %s", (kind) => {
  it("publishes an operation once, when it is repeated", { timeout: 240_000 }, async () => {
    assert.isAtLeast(await killEverywhere(kind, publishing), minimum.publish)
  })

  it("activates the newest revision at its next start", { timeout: 240_000 }, async () => {
    assert.isAtLeast(await killEverywhere(kind, following), minimum.follow)
  })

  it("seals every credential with the current key, when it is repeated", { timeout: 240_000 }, async () => {
    assert.isAtLeast(await killEverywhere(kind, resealing), minimum.reseal)
  })
})

/** Statements that write, and ends of transactions; the process is killed right before the first one. */
const statements: ReadonlyArray<readonly [BackendKind, title: string, statement: string, Killed]> = [
  ["sqlite", "publishes", "INSERT INTO config_operations", publishing],
  ["postgres", "publishes", "INSERT INTO config_revisions", publishing],
  ["postgres", "publishes", "INSERT INTO config_operations", publishing],
  ["postgres", "publishes", "COMMIT", publishing],
  ["postgres", "publishes", "INSERT INTO config_audit", publishing],
  ["postgres", "activates", "INSERT INTO config_activations", following],
  ["postgres", "seals", "UPDATE config_revisions", resealing],
  ["postgres", "seals", "COMMIT", resealing],
  ["postgres", "seals", "INSERT INTO config_drafts", resealing],
  ["postgres", "seals", "UPDATE config_reseals", resealing]
]

describe("a process that is killed within a call of its store", () => {
  it.each(statements)(
    "in %s: %s once, when it is repeated; before %s",
    { timeout: 60_000 },
    async (kind, _title, statement, killed) => {
      const place = await makePlace(kind)
      await killed.prepare(place)
      // Opened before, so that the statements of the migrations are no part of it.
      await at(place, keys.old, Effect.void)
      const before = await at(
        place,
        keys.old,
        Effect.flatMap(RevisionStore, ({ head }) => head)
      )
      assert.isTrue(await run(place, killed.env, killed.action, "0", statement))
      const after = await at(
        place,
        keys.old,
        Effect.flatMap(RevisionStore, ({ head }) => head)
      )
      if (killed === publishing && statement !== "INSERT INTO config_audit") assert.deepStrictEqual(after, before)
      await at(place, killed.env, killed.repeat, "node-1")
      await killed.check(place)
    }
  )
})
