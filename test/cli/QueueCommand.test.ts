/** The command `aicr queue`, on a SQLite queue without and with a running service. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { stringify } from "yaml"
import { targetKey } from "../../src/domain/Change.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { newId } from "../../src/domain/Ids.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { layerJournal } from "../../src/queue/journal/JournalQueue.ts"
import { makeSqliteJournal } from "../../src/queue/journal/SqliteJournal.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"
import { event } from "../store/Fixtures.ts"
import { runAicr } from "../harness/RunAicr.ts"

const root = join(import.meta.dirname, "../..")

let directory: string
let config: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "aicr-cli-queue-"))
  config = join(directory, "config.yaml")
  await configure("sqlite")
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const configure = (kind: string, server: object = {}) =>
  writeFile(
    config,
    stringify({
      triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "NOT_SET_HERE" }],
      workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "acme/app" } } } },
      server,
      queue: { kind, sqlite: { path: "queue.db" } },
      storage: { database: { sqlite: { path: "aicr.db" } } }
    })
  )

const aicr = (...args: ReadonlyArray<string>) => aicrWith({}, ...args)
const aicrWith = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runAicr(["queue", ...args, "--config", config], { env })

const stores = () =>
  Layer.fresh(
    Layer.merge(
      layerJournal(makeSqliteJournal(join(directory, "queue.db")), { perWorkspace: 100, total: 100 }),
      Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" })
    )
  )
type Stores = Layer.Success<ReturnType<typeof stores>>
const inStores = <A, E>(effect: Effect.Effect<A, E, Stores>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, stores()))

/** Stores a delivery like the ingress. */
const admit = Effect.fn(function* (
  number: number,
  over: { readonly push?: boolean; readonly dueAt?: number; readonly admittedAt?: number } = {}
) {
  const id = newId()
  const { admittedAt = 0 } = over
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
  yield* (yield* Receipts).store(event({ id, deliveryKey: DeliveryKey.make(id), work, receivedAt: admittedAt }))
  const [admitted] = yield* enqueue([{ eventId: id, ...work, admittedAt }])
  return { eventId: id, entryId: admitted?.entryId ?? "" }
})
/** An entry that was given up. */
const giveUp = Effect.fn(function* (now: number) {
  const made = yield* admit(1, { admittedAt: now })
  const queue = yield* Queue
  yield* queue.promote([made.entryId], now + 1)
  const claimed = yield* queue.claim(made.entryId, "n/1", now + 1, 1000)
  if (claimed === undefined) return yield* Effect.die(new Error("not claimed"))
  yield* queue.finish(claimed.lease, { _tag: "Dead", reason: verbatimReason("no such commit") })
  yield* (yield* Receipts).settle([made.eventId], { outcome: "failed" }, now + 2)
  return made
})
const outcomeOf = (id: string) =>
  inStores(Effect.flatMap(Receipts, (receipts) => Effect.map(receipts.get(id), (found) => found?.outcome)))

/** Sessions of administrators on record. */
const countSessions = () => {
  const db = new DatabaseSync(join(directory, "aicr.db"), { readOnly: true })
  try {
    return db.prepare("SELECT count(*) AS count FROM admin_sessions").get()?.["count"]
  } finally {
    db.close()
  }
}

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
    assert.match(lines.at(-1) ?? "", /open +app .*push:dev +1 commit, waits for the previous batch/)

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

  it("reviews the change of a run again", async () => {
    const change = {
      provider: "gitea",
      trigger: "main",
      workspace: "app",
      repo: { fullName: "acme/app" },
      target: { kind: "push", branch: "dev" },
      head: "h2",
      base: "h1"
    } as const
    const begun = { entryId: newId(), workspace: "app", targetKey: targetKey(change), change, head: "h2", base: "h1" }
    const run = await inStores(
      Runs.use((runs) => runs.begin({ ...begun, configHash: "c" }, LeaseToken.make(1), Date.now()))
    )
    const { err, out } = await aicr("rereview", run?.id ?? "")
    assert.match(out, /The review is queued: aicr why \S+\n/, err)
    assert.match((await aicr("list")).out, /acme\/app:push:dev/)
    assert.match((await aicr("rereview", run?.id ?? "")).out, /The review is duplicate/)
    assert.deepInclude(await aicr("rereview", "nothing"), { code: 2 })
  })

  it("tries again what was given up, and only that", async () => {
    const { entryId, eventId } = await inStores(giveUp(0))
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

  it("reads a queue that is being served, and refuses to change it", async () => {
    await inStores(
      Effect.gen(function* () {
        const { entryId } = yield* admit(1)
        const listed = yield* Effect.promise(() => aicr("list"))
        assert.include(listed.out, entryId)
        const refused = yield* Effect.promise(() => aicr("cancel", entryId))
        assert.strictEqual(refused.code, 2)
        assert.match(refused.err, /needs a login: set SVC_ADMIN_USERNAME/)
        assert.strictEqual((yield* (yield* Queue).get(entryId))?.status, "waiting")
      })
    )
  })

  it("retries through the administration of the running service, by its URL and on this machine", async () => {
    const port = await freePort()
    await configure("sqlite", { port, hostname: "127.0.0.1", path_prefix: "/review/" })
    const { entryId } = await inStores(giveUp(Date.now()))
    // A retried entry is not reviewed during the test.
    assert.strictEqual((await aicr("pause", "-w", "app")).code, 0)
    const admin = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "correct horse" }
    const url = `http://127.0.0.1:${port}/review`
    const service = spawn(join(root, "node_modules/.bin/node"), ["src/main.mjs", "serve", "--config", config], {
      cwd: root,
      env: { PATH: process.env["PATH"], NOT_SET_HERE: "s", ...admin }
    })
    let log = ""
    for (const stream of [service.stdout, service.stderr]) stream.on("data", (text) => (log += String(text)))
    const ended = once(service, "exit")
    try {
      await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, { describe: () => log })
      const [none, wrong, unknown, retried] = await Promise.all([
        aicr("retry", entryId, "--url", url),
        aicrWith({ ...admin, SVC_ADMIN_PASSWORD: "wrong" }, "retry", entryId, "--url", url),
        aicrWith(admin, "retry", "nothing", "--url", url),
        aicrWith(admin, "retry", entryId, "--url", url)
      ])
      assert.deepStrictEqual([none.code, wrong.code, unknown.code, retried.code], [2, 2, 2, 0], retried.err)
      assert.match(none.err, /set SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD/)
      assert.match(wrong.err, /refused the login; check SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD/)
      assert.match(unknown.err, /has the id nothing/)
      assert.strictEqual(retried.out, `${entryId} waits again, with its full number of attempts.\n`)
      assert.match((await aicr("show", entryId)).out, /status +waiting\n/)
      const again = await aicr("retry", entryId)
      assert.deepStrictEqual([again.code, again.out], [2, ""])
      assert.match(again.err, /is not dead/)
      // Every session was ended.
      assert.strictEqual(countSessions(), 0)
    } finally {
      service.kill("SIGTERM")
      await ended
    }
    const gone = await aicrWith(admin, "retry", entryId, "--url", url)
    assert.strictEqual(gone.code, 3)
    assert.match(gone.err, /no service responds at .*ECONNREFUSED; start it, or name its address with --url/)
    const plain = await aicrWith(admin, "retry", entryId, "--url", "http://aicr.example.com")
    assert.deepStrictEqual(
      [plain.code, plain.err.trim()],
      [2, "--url: http would send credentials unencrypted to aicr.example.com; use https"]
    )
  }, 60_000)

  it("explains that an in-memory queue belongs to the service", async () => {
    await configure("memory")
    await inStores(Effect.void)
    const answer = await aicr("list")
    assert.strictEqual(answer.code, 3)
    assert.match(answer.err, /only that process can show or change it/)
  })
})
