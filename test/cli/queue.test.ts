/** `aicr queue` as its users start it, on a SQLite queue of its own and beside one that is being served. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { stringify } from "yaml"
import { newId } from "../../src/domain/Ids.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { layerSqlite } from "../../src/queue/SqliteQueue.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/Store.ts"
import { event } from "../store/Fixtures.ts"

const root = join(import.meta.dirname, "../..")

let directory: string
let config: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "aicr-cli-queue-"))
  config = join(directory, "config.yaml")
  await configure("sqlite")
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const configure = (kind: string) =>
  writeFile(
    config,
    stringify({
      triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "NOT_SET_HERE" }],
      workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "acme/app" } } } },
      queue: { kind, sqlite: { path: "queue.db" } },
      storage: { database: { sqlite: { path: "aicr.db" } } }
    })
  )

const aicr = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((done) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", "src/main.ts", "queue", ...args, "--config", config],
      { cwd: root, env: { PATH: process.env["PATH"] } },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })

const stores = () =>
  Layer.fresh(
    Layer.merge(
      layerSqlite({ path: join(directory, "queue.db"), perWorkspace: 100, total: 100 }),
      Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" })
    )
  )
type Stores = Layer.Success<ReturnType<typeof stores>>
const inStores = <A, E>(effect: Effect.Effect<A, E, Stores>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, stores()))

/** A delivery as ingress takes it. */
const admit = Effect.fn(function* (number: number, over: { readonly push?: boolean; readonly dueAt?: number } = {}) {
  const id = newId()
  const target =
    over.push === true ? ({ kind: "push", branch: "dev" } as const) : ({ kind: "pull_request", number } as const)
  const dueAt = over.dueAt ?? 0
  const change = {
    provider: "gitea",
    trigger: "main",
    workspace: "app",
    repo: { fullName: "acme/app" },
    target,
    head: `h${number}`,
    base: `h${number - 1}`,
    title: `Change ${number}`
  } as const
  const work = { change, configHash: "c", priority: Priority.pullRequest, dueAt }
  yield* (yield* Receipts).store(event({ id, deliveryKey: id, work, receivedAt: 0 }))
  const [admitted] = yield* enqueue([{ eventId: id, ...work, admittedAt: 0 }])
  return { eventId: id, entryId: admitted?.entryId ?? "" }
})
const outcomeOf = (id: string) =>
  inStores(Effect.flatMap(Receipts, (receipts) => Effect.map(receipts.get(id), (found) => found?.outcome)))

describe("aicr queue", () => {
  it("lists and shows what waits, why and until when", async () => {
    const [due, later] = await inStores(Effect.all([admit(1), admit(2, { dueAt: 4_102_444_800_000 })]))
    await inStores(Effect.all([admit(1, { push: true }), admit(2, { push: true })]))
    const listed = await aicr("list")
    assert.strictEqual(listed.code, 0, listed.err)
    const lines = listed.out.trim().split("\n")
    assert.lengthOf(lines, 4)
    assert.match(
      lines.find((line) => line.startsWith(due.entryId)) ?? "",
      /waiting +app +main:acme\/app:pull_request:1/
    )
    assert.match(lines.find((line) => line.startsWith(later.entryId)) ?? "", /not due yet.*until 2100-01-01T00:00:00Z/)
    assert.match(lines.at(-1) ?? "", /open +app .*push:dev +1 commit, waits for the batch before it/)

    const shown = await aicr("show", later.entryId)
    assert.match(shown.out, /title +Change 2\n/)
    assert.match(shown.out, /until +2100-01-01T00:00:00Z\n/)
    const json: unknown = JSON.parse((await aicr("list", "--json", "--status", "waiting")).out)
    assert.lengthOf(Object(json).entries, 3)
    assert.strictEqual((await aicr("list", "--status", "nonsense")).code, 2)
    assert.deepInclude(await aicr("show", "nothing"), { code: 2 })
  })

  it("cancels what waits, also a batch that is held back, and notes it on the receipts", async () => {
    const one = await inStores(admit(1))
    const [, held] = await inStores(Effect.all([admit(1, { push: true }), admit(2, { push: true })]))
    const batch = (await aicr("list")).out.trim().split("\n").at(-1)?.split(" ")[0] ?? ""
    assert.match((await aicr("cancel", one.entryId, "--reason", "not wanted")).out, /is cancelled/)
    assert.match((await aicr("cancel", batch)).out, /is cancelled/)
    assert.match((await aicr("cancel", one.entryId)).out, /had ended already/)
    assert.strictEqual(await outcomeOf(one.eventId), "cancelled")
    assert.strictEqual(await outcomeOf(held.eventId), "cancelled")
  })

  it("tries again what was given up, and only that", async () => {
    const { entryId, eventId } = await inStores(
      Effect.gen(function* () {
        const made = yield* admit(1)
        const queue = yield* Queue
        yield* queue.release([made.entryId], 1)
        const claimed = yield* queue.claim(made.entryId, "n/1", 1, 1000)
        if (claimed === undefined) return yield* Effect.die(new Error("not claimed"))
        yield* queue.finish(claimed.lease, { _tag: "Dead", reason: "no such commit" })
        yield* (yield* Receipts).settle([made.eventId], { outcome: "failed" }, 2)
        return made
      })
    )
    assert.match((await aicr("list", "--status", "dead")).out, /dead .*no such commit/)
    assert.match((await aicr("retry", entryId)).out, /waits again/)
    assert.isUndefined(await outcomeOf(eventId))
    assert.strictEqual((await aicr("retry", entryId)).code, 2)
  })

  it("pauses and resumes a workspace", async () => {
    await inStores(admit(1))
    assert.strictEqual((await aicr("pause", "-w", "app", "--reason", "release day")).code, 0)
    assert.match(
      (await aicr("list")).out,
      /workspace app is paused since .*: release day\n.*waiting.*is paused: release day/
    )
    assert.strictEqual((await aicr("resume", "-w", "app")).code, 0)
    assert.notMatch((await aicr("list")).out, /paused/)
    assert.strictEqual((await aicr("pause")).code, 2)
  })

  it("looks at a queue that is being served, and leaves changing it to the service", async () => {
    await inStores(
      Effect.gen(function* () {
        const { entryId } = yield* admit(1)
        const listed = yield* Effect.promise(() => aicr("list"))
        assert.include(listed.out, entryId)
        const refused = yield* Effect.promise(() => aicr("cancel", entryId))
        assert.strictEqual(refused.code, 3)
        assert.match(refused.err, /Another aicr process uses/)
        assert.strictEqual((yield* (yield* Queue).get(entryId))?.status, "waiting")
      })
    )
  })

  it("says plainly that a queue in memory is the service's alone", async () => {
    await configure("memory")
    await inStores(Effect.void)
    const answer = await aicr("list")
    assert.strictEqual(answer.code, 3)
    assert.match(answer.err, /only that process can show or change it/)
  })
})
