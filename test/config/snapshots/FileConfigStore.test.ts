/** Reloading: on change, on signal, on demand; an invalid file replaces nothing and is reported. */
import { Context, Deferred, Effect, Exit, Layer, Logger, Scope, Stream } from "effect"
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { layerFile, layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { heldSnapshots } from "../../../src/config/snapshots/HeldSnapshots.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"

let folder = ""
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "aicr-store-"))
})
afterEach(() => rm(folder, { recursive: true }))

const file = (): string => join(folder, "config.yaml")
const write = (text: string): Promise<void> => writeFile(file(), text)
const port = (store: ConfigStore["Service"]): number => store.current().document.server.port

const withStore = async (
  use: (store: ConfigStore["Service"], log: ReadonlyArray<string>) => Promise<void>
): Promise<void> => {
  const log: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ message, logLevel }) => log.push(`${logLevel} ${JSON.stringify(message)}`))
  ])
  const scope = Scope.makeUnsafe()
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(Layer.provide(layerFile(file(), {}), logger), scope))
    const store = Context.get(context, ConfigStore)
    await use({ ...store, reload: Effect.provide(store.reload, logger) }, log)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const until = async (holds: () => boolean): Promise<void> => {
  const deadline = Date.now() + 15_000
  while (!holds()) {
    if (Date.now() > deadline) throw new Error("it did not come to hold in 15 s")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

it("reads a changed file by itself, also one that is renamed into place", async () => {
  await write("server: { port: 1 }")
  await withStore(async (store) => {
    expect(port(store)).toBe(1)
    await write("server: { port: 22 }")
    await until(() => port(store) === 22)
    await writeFile(join(folder, "next"), "server: { port: 3 }")
    await rename(join(folder, "next"), file())
    await until(() => port(store) === 3)
  })
})

it("reads it on SIGHUP, and stops listening when it ends", async () => {
  await write("server: { port: 1 }")
  const listeners = process.listenerCount("SIGHUP")
  await withStore(async (store) => {
    await until(() => process.listenerCount("SIGHUP") === listeners + 1)
    await write("server: { port: 2 }")
    process.kill(process.pid, "SIGHUP")
    await until(() => port(store) === 2)
  })
  expect(process.listenerCount("SIGHUP")).toBe(listeners)
})

it("keeps the snapshot in force when the new file is bad, and names every error", async () => {
  await write("server: { port: 1 }")
  await withStore(async (store, log) => {
    await write("server: { port: 0 }\nqueue: { kind: x }\n")
    expect(await Effect.runPromise(store.reload)).toBe("refused")
    expect(port(store)).toBe(1)
    const said = log.filter((line) => line.startsWith("Error"))
    expect(said[0]).toMatch(/configuration refused, the current one stays in force.*"errors":2/)
    expect(said[0]).toContain(`${file()}:1:17 server.port: `)
    expect(said[0]).toContain(`${file()}:2:16 queue.kind: `)
    await rm(file())
    expect(await Effect.runPromise(store.reload)).toBe("refused")
    expect(port(store)).toBe(1)
    await write("server: { port: 2 }")
    expect(await Effect.runPromise(store.reload)).not.toBe("refused")
    expect(port(store)).toBe(2)
  })
})

it("replaces by content, announces replacements, and holds replaced snapshots for those who pin them", async () => {
  await write("server: { port: 1 }")
  await withStore(async (store) => {
    const first = store.current()
    await write("# the same\nserver: { port: 1 }")
    expect(await Effect.runPromise(store.reload)).toBe("unchanged")
    expect(store.current()).toBe(first)
    const listening = Deferred.makeUnsafe<number>()
    const received = Effect.runPromise(
      store.changes.pipe(
        Stream.take(1),
        Stream.runForEach((snapshot) => Deferred.succeed(listening, snapshot.document.server.port))
      )
    )
    await new Promise((resolve) => setImmediate(resolve))
    await write("server: { port: 2 }")
    await Effect.runPromise(store.reload)
    await until(() => port(store) === 2)
    await received
    expect(await Effect.runPromise(Deferred.await(listening))).toBe(2)
    const pinned = (hash: string) => Effect.runPromise(store.pinned(hash))
    expect(await pinned(first.hash)).toBe(first)
    expect(await pinned("unknown")).toBe(store.current())
    for (let next = 3; next < 3 + heldSnapshots; next++) {
      await write(`server: { port: ${next} }`)
      await Effect.runPromise(store.reload)
    }
    await until(() => port(store) === 2 + heldSnapshots)
    expect(await pinned(first.hash)).toBe(store.current())
  })
})

it("judges a file that is being written when it is whole", async () => {
  const whole = "triggers:\n  - { name: hub, kind: github }\n  - { name: lab, kind: gitlab }\n"
  await write(whole)
  await withStore(async (store, log) => {
    // Truncated and half-written, as a slow copy leaves it, with the rest soon after.
    await write("")
    const reloading = Effect.runPromise(store.reload)
    await write(whole.slice(0, 20))
    await write(`${whole}server: { port: 9 }\n`)
    expect(await reloading).toBe("replaced")
    expect(port(store)).toBe(9)
    expect(log.filter((line) => line.startsWith("Error"))).toEqual([])
  })
})

it.each([
  ["empty", "", "empty"],
  ["a comment", "# nothing\n", "empty"],
  ["without triggers", "server: { port: 2 }", "no_triggers"],
  ["cut in the middle", "triggers:\n  - { name: hub, ki", "invalid"]
])("refuses a document that is %s where triggers are in force", async (_, text, reason) => {
  await write("triggers: [{ name: hub, kind: github }]")
  await withStore(async (store) => {
    await write(text)
    expect(await Effect.runPromise(store.reload)).toBe("refused")
    expect(store.current().triggers.size).toBe(1)
    expect(store.refused()).toMatchObject({ reason, errors: 1, file: file() })
    await write(`allow_empty: true\n${reason === "invalid" ? "" : text}`)
    expect(await Effect.runPromise(store.reload)).toBe("replaced")
    expect(store.current().triggers.size).toBe(0)
    expect(store.refused()).toBeUndefined()
  })
})

it("starts without triggers, also again, but not on an empty file unless that is meant", async () => {
  await write("server: { port: 1 }")
  await withStore(async (store) => {
    await write("server: { port: 2 }")
    expect(await Effect.runPromise(store.reload)).toBe("replaced")
  })
  await write("")
  const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layerFile(file(), {}))))
  expect(String(exit)).toContain("begin with config.example.yaml, or write allow_empty: true at the top level")
  await write("allow_empty: true")
  await withStore(async (store) => expect(store.current().triggers.size).toBe(0))
})

it("does not start on a bad file", async () => {
  await write("server: { port: 0 }")
  const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layerFile(file(), {}))))
  expect(String(exit)).toContain("ConfigInvalid")
})

it("layerOf holds one snapshot", async () => {
  const snapshot = await Effect.runPromise(toSnapshot({ server: { port: 5 } }, {}))
  const store = await Effect.runPromise(Effect.provide(ConfigStore.use(Effect.succeed), layerStatic(snapshot)))
  expect(store.current()).toBe(snapshot)
  expect(await Effect.runPromise(store.reload)).toBe("unchanged")
})
