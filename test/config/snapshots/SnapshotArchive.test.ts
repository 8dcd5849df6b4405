/** Documents that work is pinned to: archived without secrets in clear, restored unchanged. */
import { Effect, Exit, Fiber, Layer, Logger, Redacted, Result, Scope, Context } from "effect"
import { TestClock } from "effect/testing"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { ArchivedDocument, SnapshotArchive } from "../../../src/config/ConfigStore.ts"
import { layerFile } from "../../../src/config/snapshots/FileConfigStore.ts"
import { heldSnapshots } from "../../../src/config/snapshots/HeldSnapshots.ts"
import { sealingKeys } from "../../../src/config/credentials/Sealing.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { archive, resealArchived, restore } from "../../../src/config/snapshots/SnapshotArchive.ts"
import { inEnglish } from "../../../src/text/en.ts"

const secret = "t0ken-in-the-document"
const document = (trigger: string) => ({
  triggers: [
    { name: "spare", kind: "github", token_env: "SPARE_TOKEN" },
    {
      name: trigger,
      kind: "gitea",
      base_url: "https://git.test",
      token: secret,
      commit_url_template: "https://c/{{sha}}"
    }
  ],
  workspaces: { instances: { w: { source_repo: { trigger, repo: "a/b" }, review: { max_files: 3 } } } }
})
const env = { SPARE_TOKEN: "value-of-the-variable" }
const key = { ...env, SVC_CONFIG_SECRETS_KEY: "ab".repeat(32) }
const read = (tree: unknown, vars: Record<string, string>) =>
  Effect.runPromise(toSnapshot(tree, vars, { baseDir: "/base" }))
const tokenOf = (snapshot: ReturnType<typeof restore>, trigger: string) => {
  const token = snapshot?.triggers.get(trigger)?.token
  return token === undefined ? undefined : Redacted.value(token)
}

describe("an archived document", () => {
  it.each([
    ["without a sealing key", env],
    ["with a sealing key", key]
  ])("holds no secret in clear %s", async (_, vars) => {
    const { document: text } = archive(await read(document("main"), vars), vars)
    expect(text).not.toContain(secret)
    expect(text).not.toContain("value-of-the-variable")
    expect(text).toContain("SPARE_TOKEN")
  })

  it("is what it was once it is read again, under its hash", async () => {
    const before = await read(document("main"), key)
    const other = await read({}, key)
    const after = restore(archive(before, key), key, other)
    expect(after?.hash).toBe(before.hash)
    expect(after?.baseDir).toBe("/base")
    expect(after?.document).toEqual(before.document)
    expect(tokenOf(after, "main")).toBe(secret)
    expect(tokenOf(after, "spare")).toBe("value-of-the-variable")
    expect(after?.workspaces.get("w")?.review.max_files).toBe(3)
    expect(after?.workspaces.get("w")?.snapshot()).toBe(after)
  })

  it("gets a withheld credential from the same field of the configuration in force, and only from there", async () => {
    const before = await read(document("main"), env)
    const written = archive(before, env)
    const changed = { ...document("main"), triggers: document("main").triggers.toReversed() }
    expect(tokenOf(restore(written, env, await read(changed, env)), "main")).toBe(secret)
    const renamed = restore(written, env, await read(document("renamed"), env))
    expect(renamed?.hash).toBe(before.hash)
    expect(tokenOf(renamed, "main")).toBeUndefined()
  })

  it("is sealed again with the current key, at every place, once", async () => {
    const named = { ...document("main"), config_sources: { database: { namespace: "other" } } }
    const [spare, main] = named.triggers
    const both = [main, { ...spare, kind: "gitea", base_url: "https://x.test", token_env: undefined, token: "second" }]
    const before = await read({ ...named, triggers: both }, key)
    const written = archive(before, key)
    const rotated = { SVC_CONFIG_SECRETS_KEY: "cd".repeat(32), SVC_CONFIG_SECRETS_KEY_PREVIOUS: "ab".repeat(32) }
    const keys = Result.getOrThrow(sealingKeys(rotated))
    const next = Result.getOrThrow(resealArchived(written.document, keys))
    expect(next?.match(/enc:v1\.[0-9a-f]{8}/g)).toEqual(Array(2).fill(`enc:v1.${keys.current?.kid}`))
    const only = { SVC_CONFIG_SECRETS_KEY: rotated.SVC_CONFIG_SECRETS_KEY }
    const after = restore({ hash: before.hash, document: next ?? "" }, only, await read({}, only))
    expect([after?.hash, tokenOf(after, "main"), tokenOf(after, "spare")]).toEqual([before.hash, secret, "second"])
    expect(resealArchived(next ?? "", keys)).toEqual(Result.succeed(undefined))
    const plain = archive(await read({}, {}), {}).document
    expect(resealArchived(plain, keys)).toEqual(Result.succeed(undefined))
  })

  it("whose key is unknown is not sealed again, nor is one with a moved credential", async () => {
    const written = archive(await read(document("main"), key), key).document
    const unknown = resealArchived(written, Result.getOrThrow(sealingKeys({ SVC_CONFIG_SECRETS_KEY: "cd".repeat(32) })))
    expect(Result.isFailure(unknown) ? inEnglish(unknown.failure) : "").toMatch(
      /^triggers\/main token: .*sealed with key/
    )
    const both = { SVC_CONFIG_SECRETS_KEY: "cd".repeat(32), SVC_CONFIG_SECRETS_KEY_PREVIOUS: "ab".repeat(32) }
    const moved = resealArchived(written.replace('"main"', '"other"'), Result.getOrThrow(sealingKeys(both)))
    expect(Result.isFailure(moved) ? inEnglish(moved.failure) : "").toMatch(/^triggers\/other token: .*another place/)
  })

  it("that this release does not read is no snapshot", async () => {
    const current = await read({}, env)
    const broken = { baseDir: "/base", tree: { server: { port: "many" } }, withheld: [] }
    for (const text of [JSON.stringify(broken), "{}", "[]"])
      expect(restore({ hash: "h", document: text }, env, current)).toBeUndefined()
  })
})

/** An in-memory archive that records the current snapshot at each write. */
const memoryArchive = (pinned: () => ReadonlyArray<string>) => {
  const rows = new Map<string, ArchivedDocument>()
  const service: SnapshotArchive<never> = {
    keep: (row) => Effect.sync(() => void rows.set(row.hash, row)),
    find: (hash) => Effect.sync(() => rows.get(hash)),
    pinned: Effect.sync(() => new Set(pinned())),
    replace: (hash, before, after) =>
      Effect.sync(() => {
        if (rows.get(hash)?.document !== before) return false
        rows.set(hash, { hash, document: after })
        return true
      })
  }
  return { rows, service }
}

const withStore = async (
  use: (store: ConfigStore["Service"], write: (port: number) => Promise<string>) => Promise<void>
) => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-archive-"))
  const file = join(folder, "config.yaml")
  await writeFile(file, "server: { port: 1 }")
  const scope = Scope.makeUnsafe()
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layerFile(file, {}), scope))
    const store = Context.get(context, ConfigStore)
    await use(store, async (port) => {
      await writeFile(file, `server: { port: ${port} }`)
      await Effect.runPromise(store.reload)
      return store.current().hash
    })
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(folder, { recursive: true })
  }
}

const port = async (store: ConfigStore["Service"], hash: string): Promise<number> =>
  (await Effect.runPromise(store.pinned(hash))).document.server.port

describe("a store with an archive", () => {
  it("archives each document before it comes into force, and finds it after it left memory", async () => {
    await withStore(async (store, write) => {
      const { rows, service } = memoryArchive(() => [])
      const inForce: Array<readonly [string, string]> = []
      const keep = (row: ArchivedDocument) =>
        Effect.andThen(
          service.keep(row),
          Effect.sync(() => inForce.push([row.hash, store.current().hash]))
        )
      await Effect.runPromise(store.keepIn({ ...service, keep }))
      const first = store.current().hash
      const second = await write(2)
      expect(inForce).toEqual([
        [first, first],
        [second, first]
      ])
      for (let next = 3; next < 3 + heldSnapshots; next++) await write(next)
      expect(await port(store, first)).toBe(1)
      expect(rows.size).toBe(2 + heldSnapshots)
      // The current snapshot is not a replacement: without the archive it is unknown.
      rows.clear()
      expect(await port(store, second)).toBe(2 + heldSnapshots)
    })
  })

  it("holds in memory what work is pinned to, however many come after it", async () => {
    await withStore(async (store, write) => {
      const first = store.current()
      await Effect.runPromise(store.keepIn(memoryArchive(() => [first.hash]).service))
      for (let next = 2; next < 4 + heldSnapshots; next++) await write(next)
      expect(await Effect.runPromise(store.pinned(first.hash))).toBe(first)
    })
  })

  it("reads a snapshot once while it is held: all work with it shares the clients of its profiles", async () => {
    await withStore(async (store, write) => {
      const { service } = memoryArchive(() => [])
      // Reads overlap.
      const find = (hash: string) => Effect.delay(service.find(hash), "10 millis")
      await Effect.runPromise(store.keepIn({ ...service, find }))
      const first = store.current().hash
      for (let next = 2; next < 3 + heldSnapshots; next++) await write(next)
      const pinned = () => Effect.runPromise(store.pinned(first))
      const [one, two] = await Promise.all([pinned(), pinned()])
      expect(one.hash).toBe(first)
      expect([two, await pinned()].map((snapshot) => snapshot === one)).toEqual([true, true])
    })
  })

  it("waits for an archive that is unavailable, and logs that once", async () => {
    await withStore(async (store, write) => {
      const { service } = memoryArchive(() => [])
      let attempts = 0
      const find = (hash: string) =>
        Effect.suspend(() => (++attempts < 4 ? Effect.fail({ message: "unavailable" }) : service.find(hash)))
      await Effect.runPromise(store.keepIn({ ...service, find }))
      const first = store.current().hash
      for (let next = 2; next < 3 + heldSnapshots; next++) await write(next)
      const lines: Array<string> = []
      const reading = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(store.pinned(first), { startImmediately: true })
        yield* Effect.repeat(TestClock.adjust("2 seconds"), { times: 4 })
        return yield* Fiber.join(fiber)
      }).pipe(
        Effect.provide([
          TestClock.layer(),
          Logger.layer([Logger.make(({ message }) => lines.push(JSON.stringify(message)))])
        ])
      )
      expect((await Effect.runPromise(reading)).hash).toBe(first)
      expect(attempts).toBe(4)
      expect(lines).toEqual([expect.stringContaining("configuration archive unavailable, retry scheduled")])
    })
  })
})
