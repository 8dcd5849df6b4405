import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { Clock, Context, Deferred, Effect, Fiber, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { ArchivedDocument } from "../../../src/config/ConfigStore.ts"
import { layerFile } from "../../../src/config/snapshots/FileConfigStore.ts"
import { coalesced, waitBriefly } from "../../../src/config/revisions/FollowRevisions.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { deserialise } from "../../../src/config/revisions/SealDocument.ts"
import { ActivationStore } from "../../../src/config/revisions/ActivationStore.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import {
  memoryStores,
  sealingKey,
  startNode,
  startNodes as startOver,
  writeConfig,
  resealAll
} from "../../harness/ConfigSource.ts"
import type { EditorOptions } from "../../harness/ConfigSource.ts"
import { shiftedClock } from "../../harness/ShiftedClock.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { backends, openStores } from "../../store/source/Backends.ts"
import { inEnglish } from "../../../src/text/en.ts"

const document = {
  triggers: [{ name: "main", kind: "gitea", base_url: "https://git.example", webhook_secret: "a-secret" }]
}
const passes = (value: number): ConfigOperation => ({ op: "set", path: ["review", "max_passes"], value })
const withSecret: ConfigOperation = {
  op: "create",
  entity: { kind: "triggers", name: "second" },
  value: { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook" }
}

const startNodes = (...nodes: ReadonlyArray<EditorOptions>) =>
  startOver(...nodes.map((node) => ({ document, ...node })))

const edit = (base: number, ...operations: ReadonlyArray<ConfigOperation>) => ({
  base,
  operations,
  operationId: `after ${base}`
})

const hour = 3_600_000

/** Runs an effect with a clock that differs by this many milliseconds. */
const shifted =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(effect, Clock.Clock, shiftedClock(clock, millis)))

const passesOf = ({ config }: { readonly config: ConfigStore["Service"] }) =>
  config.current().document.review.max_passes

describe.each(backends)("a node that missed a hundred revisions in $kind", ({ kind, make }) => {
  it.live(
    "activates only the newest, also when it was down",
    () =>
      Effect.gen(function* () {
        const { address } = yield* Effect.promise(make)
        const stores = yield* Effect.orDie(Layer.build(openStores(kind, address, "default")))
        const runtime = { refresh_interval_seconds: 3600 }
        const still = { ...document, config_sources: { database: { enabled: true }, runtime } }
        const one = yield* startNode(stores, { document: still, node: "one" })
        const two = yield* startNode(stores, { document: still, node: "two" })
        const activated: Array<number | undefined> = []
        yield* two.config.changes.pipe(
          Stream.runForEach(({ revision }) => Effect.sync(() => activated.push(revision))),
          Effect.forkScoped({ startImmediately: true })
        )
        for (let n = 0; n < 100; n++) {
          const problems: ConfigOperation = { op: "set", path: ["review", "max_problems"], value: n + 1 }
          yield* one.editor.publish("alice", edit(n, passes((n % 2) + 3), problems))
        }
        const late = yield* startNode(stores, { document: still, node: "late" })
        const { document: current, hash, revision } = late.config.current()
        assert.deepStrictEqual([revision, current.review.max_problems, current.review.max_passes], [100, 100, 4])
        assert.strictEqual((yield* late.config.pinned(one.config.current().hash)).hash, hash)
        assert.deepStrictEqual(activated, [])
        yield* two.config.adoptHead() ?? Effect.void
        yield* Effect.promise(() => waitUntil(() => activated.length > 0, { describe: () => "it activates one" }))
        assert.deepStrictEqual([activated, passesOf(two)], [[100], 4])
        // A node reports what it has activated afterwards.
        const { nodes } = yield* Effect.promise(() =>
          waitUntil(
            async () => {
              const status = await Effect.runPromise(one.editor.status)
              return status.converged ? status : undefined
            },
            { describe: () => "every node reports the newest revision" }
          )
        )
        assert.deepStrictEqual(
          nodes.map(({ active }) => active),
          [100, 100, 100]
        )
      }),
    60_000
  )
})

describe("a node", () => {
  it.effect("works with a revision of another node before it admits a delivery", () =>
    Effect.gen(function* () {
      const [one, two] = yield* startNodes({ node: "one" }, { node: "two" })
      if (one === undefined || two === undefined) return
      yield* one.editor.publish("alice", edit(0, passes(7)))
      assert.deepStrictEqual([passesOf(one), passesOf(two) === 7], [7, false])
      yield* two.config.adoptHead() ?? Effect.void
      assert.strictEqual(passesOf(two), 7)
      assert.isTrue((yield* two.editor.status).converged)
    })
  )
  it.effect("that publishes makes the same snapshot as one that reads the revision", () =>
    Effect.gen(function* () {
      const [one, two] = yield* startNodes({ node: "one" }, { node: "two" })
      if (one === undefined || two === undefined) return assert.fail("no nodes")
      for (const [base, operation] of [passes(7), withSecret, passes(8)].entries()) {
        yield* one.editor.publish("alice", edit(base, operation))
        yield* two.config.adoptHead() ?? Effect.void
        const [left, right] = [one.config.current(), two.config.current()]
        assert.notStrictEqual(left, right)
        assert.deepStrictEqual([left.hash, left.revision, left.given], [right.hash, base + 1, right.given])
      }
    })
  )
  it.effect("uses the snapshot of its own edit only for that revision and that file", () =>
    Effect.gen(function* () {
      const [one, two] = yield* startNodes({ node: "one" }, { node: "two" })
      if (one === undefined || two === undefined) return assert.fail("no nodes")
      yield* two.editor.publish("alice", edit(0, passes(7)))
      const { hash, document: text, number } = (yield* two.revisions.read(1)) ?? assert.fail("no revision")
      const { baseline } = one.config.layered() ?? assert.fail("no database")
      const snapshot = two.config.current()
      const right = { revision: { number, hash }, document: deserialise(text), snapshot, baseline }
      const revision = { number, hash, document: text }
      for (const other of [
        { ...right, revision: { number: 2, hash } },
        { ...right, revision: { number, hash: "other" } },
        { ...right, baseline: { ...baseline } }
      ]) {
        one.config.prepare(other)
        yield* one.config.activate(revision)
        assert.notStrictEqual(one.config.current(), snapshot)
        assert.strictEqual(one.config.current().hash, snapshot.hash)
        yield* one.config.activate({ number: 0, hash: "", document: "{}" })
      }
      one.config.prepare(right)
      yield* one.config.activate(revision)
      assert.strictEqual(one.config.current(), snapshot)
    })
  )
  it.effect("follows the head every runtime.refresh_interval_seconds", () =>
    Effect.gen(function* () {
      const runtime = { config_sources: { database: { enabled: true }, runtime: { refresh_interval_seconds: 9 } } }
      const [one, two] = yield* startNodes({ node: "one" }, { node: "two", document: { ...document, ...runtime } })
      if (one === undefined || two === undefined) return
      yield* one.editor.publish("alice", edit(0, passes(7)))
      yield* TestClock.adjust("8 seconds")
      assert.notStrictEqual(passesOf(two), 7)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(passesOf(two), 7)
    })
  )
  it.effect("whose clock differs by an hour takes part in one history, with its drafts and repeated requests", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const [ahead, behind] = [shifted(hour), shifted(-hour)]
      const one = yield* ahead(startNode(stores, { document, node: "one" }))
      const two = yield* behind(startNode(stores, { document, node: "two" }))
      const nodes = [
        { node: one, clock: ahead },
        { node: two, clock: behind }
      ]
      for (let base = 0; base < 4; base++) {
        const [writer, reader] = base % 2 === 0 ? nodes : nodes.toReversed()
        if (writer === undefined || reader === undefined) return assert.fail("no nodes")
        const request = edit(base, passes(base + 3))
        const outcome = yield* writer.clock(writer.node.editor.publish("alice", request))
        assert.deepInclude(outcome, { _tag: "Committed", active: true })
        yield* reader.clock(reader.node.config.adoptHead() ?? Effect.void)
        assert.strictEqual(passesOf(reader.node), base + 3)
        const again = yield* reader.clock(reader.node.editor.publish("alice", request))
        assert.strictEqual(again._tag === "Committed" ? again.revision.number : again._tag, base + 1)
      }
      const { items } = yield* one.revisions.list({ limit: 9 })
      assert.deepStrictEqual(
        items.map(({ number, parent }) => [number, parent]),
        [
          [4, 3],
          [3, 2],
          [2, 1],
          [1, 0]
        ]
      )
      assert.deepStrictEqual(items[0]?.createdAt, (items[1]?.createdAt ?? 0) - 2 * hour)
      const input = { title: "draft", reason: "", base: 4, operations: [passes(9)] }
      const saved = yield* ahead(one.editor.createDraft("alice", input))
      const id = saved._tag === "Saved" ? saved.draft.id : ""
      assert.strictEqual((yield* behind(two.editor.saveDraft("alice", id, 1, input)))._tag, "Saved")
      assert.strictEqual((yield* ahead(one.editor.saveDraft("alice", id, 1, input)))._tag, "Moved")
      assert.strictEqual((yield* ahead(one.editor.approveDraft("bob", id, 2)))._tag, "Saved")
      const published = yield* behind(two.editor.publishDraft("alice", id, { operationId: "d", version: 3 }))
      assert.deepInclude(published, { _tag: "Committed", active: true })
      yield* ahead(one.config.adoptHead() ?? Effect.void)
      assert.strictEqual(passesOf(one), 9)
    })
  )
  it.effect("refuses a revision that is invalid there, keeps its own, and reports why", () =>
    Effect.gen(function* () {
      const [one, keyless] = yield* startNodes(
        { node: "one" },
        { node: "keyless", env: { SVC_CONFIG_SECRETS_KEY: "" } }
      )
      if (one === undefined || keyless === undefined) return
      yield* one.editor.publish("alice", edit(0, passes(7)))
      yield* keyless.config.adoptHead() ?? Effect.void
      yield* one.editor.publish("alice", edit(1, withSecret))
      yield* keyless.config.adoptHead() ?? Effect.void
      const { converged, nodes } = yield* one.editor.status
      assert.isFalse(converged)
      const refused = nodes.find(({ node }) => node === "keyless")
      assert.deepInclude(refused, { state: "refused", revision: 2, active: 1 })
      assert.match(refused?.problems.map(inEnglish).join("\n") ?? "", /secrets_key_missing/)
      assert.deepStrictEqual([passesOf(keyless), [...keyless.config.current().triggers.keys()]], [7, ["main"]])
      yield* one.editor.restore("alice", { revision: 1, operationId: "back" })
      yield* keyless.config.adoptHead() ?? Effect.void
      assert.isTrue((yield* one.editor.status).converged)
    })
  )
  it.effect("reads a refused revision again every minute, not at every delivery", () =>
    Effect.gen(function* () {
      const [one, keyless] = yield* startNodes(
        { node: "one" },
        { node: "keyless", env: { SVC_CONFIG_SECRETS_KEY: "" } }
      )
      if (one === undefined || keyless === undefined) return assert.fail("no nodes")
      const reportedAt = Effect.map(
        one.editor.status,
        ({ nodes }) => nodes.find(({ node, state }) => node === "keyless" && state === "refused")?.at
      )
      yield* one.editor.publish("alice", edit(0, withSecret))
      yield* keyless.config.adoptHead() ?? Effect.void
      const first = yield* reportedAt
      assert.isDefined(first)
      yield* TestClock.adjust("2 seconds")
      yield* keyless.config.adoptHead() ?? Effect.void
      assert.strictEqual(yield* reportedAt, first)
      yield* TestClock.adjust("1 minute")
      assert.isAbove((yield* reportedAt) ?? 0, first ?? 0)
    })
  )
  it.effect("logs a refused revision once, however often it reads it", () => {
    const refused: Array<unknown> = []
    const collect = Logger.make(({ message }) => {
      const [text, fields] = Array.isArray(message) ? message : [message]
      if (String(text).startsWith("configuration revision refused")) refused.push(Object(fields).revision)
    })
    return Effect.gen(function* () {
      const [one, keyless] = yield* startNodes(
        { node: "one" },
        { node: "keyless", env: { SVC_CONFIG_SECRETS_KEY: "" } }
      )
      if (one === undefined || keyless === undefined) return assert.fail("no nodes")
      yield* one.editor.publish("alice", edit(0, withSecret))
      yield* keyless.config.adoptHead() ?? Effect.void
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(refused, [1])
      yield* one.editor.publish("alice", edit(1, passes(7)))
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(refused, [1, 2])
    }).pipe(Effect.provide(Logger.layer([collect])))
  })
  it.effect("follows again after a read of the store that did not end", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const revisions = Context.get(stores, RevisionStore)
      let isStuck = false
      const head = Effect.suspend(() => (isStuck ? Effect.never : revisions.head))
      const stuck = Context.add(stores, RevisionStore, RevisionStore.of({ ...revisions, head }))
      const one = yield* startNode(stores, { document, node: "one" })
      const two = yield* startNode(stuck, { document, node: "two" })
      yield* one.editor.publish("alice", edit(0, passes(7)))
      isStuck = true
      const admission = yield* Effect.forkChild(two.config.adoptHead() ?? Effect.void, { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(admission)
      assert.notStrictEqual(passesOf(two), 7)
      isStuck = false
      yield* two.config.adoptHead() ?? Effect.void
      assert.strictEqual(passesOf(two), 7)
    })
  )
  it.effect("reports one state at a time, the newest one last, also when a report is slow", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const activations = Context.get(stores, ActivationStore)
      const delays = ["0 millis", "1 second"] as const
      let reports = 0
      const slow = ActivationStore.of({
        ...activations,
        report: (activation) => Effect.delay(activations.report(activation), delays[reports++] ?? "0 millis")
      })
      const one = yield* startNode(stores, { document, node: "one" })
      const start = startNode(Context.add(stores, ActivationStore, slow), { document, node: "two" })
      const starting = yield* Effect.forkChild(start, { startImmediately: true })
      yield* TestClock.adjust(1)
      const two = yield* Fiber.join(starting)
      yield* one.editor.publish("alice", edit(0, passes(7)))
      const adoption = yield* Effect.forkChild(two.config.adoptHead() ?? Effect.void, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(adoption)
      yield* TestClock.adjust("1 second")
      const reported = (yield* one.editor.status).nodes.find(({ node }) => node === "two")
      assert.deepInclude(reported, { revision: 1, active: 1, state: "active" })
      assert.isAbove(reports, 2)
    })
  )
  it.effect("works with a revision before it logs so", () => {
    const logged: Array<unknown> = []
    let config: ConfigStore["Service"] | undefined
    const collect = Logger.make(({ message }) => {
      const [text, fields] = Array.isArray(message) ? message : [message]
      if (text === "configuration in force" && config !== undefined)
        logged.push([Object(fields).revision, config.layered()?.active.number])
    })
    return Effect.gen(function* () {
      const [one] = yield* startNodes({ node: "one" })
      if (one === undefined) return assert.fail("no node")
      config = one.config
      yield* one.editor.publish("alice", edit(0, passes(7)))
      assert.deepStrictEqual(logged, [[1, 1]])
    }).pipe(Effect.provide(Logger.layer([collect])))
  })
  it.effect("refuses a variable that its own file does not grant", () =>
    Effect.gen(function* () {
      const grant = {
        env: "OTHER_TOKEN",
        target: ["triggers", "third", "token_env"],
        destinations: { third: { kind: "gitea", endpoints: { base_url: "https://third.example" } } }
      }
      const granting = { ...document, config_sources: { database: { enabled: true }, secret_refs: [grant] } }
      const env = { OTHER_TOKEN: "t" }
      const [one, two] = yield* startNodes({ node: "one", document: granting, env }, { node: "two", env })
      if (one === undefined || two === undefined) return
      const value = { kind: "gitea", base_url: "https://third.example", webhook_secret: "s", token_env: "OTHER_TOKEN" }
      const third: ConfigOperation = { op: "create", entity: { kind: "triggers", name: "third" }, value }
      assert.strictEqual((yield* one.editor.publish("alice", edit(0, third)))._tag, "Committed")
      yield* two.config.adoptHead() ?? Effect.void
      assert.deepStrictEqual(
        [one, two].map(({ config }) => config.current().triggers.has("third")),
        [true, false]
      )
      const { nodes } = yield* two.editor.status
      assert.match(
        nodes
          .find(({ node }) => node === "two")
          ?.problems.map(inEnglish)
          .join("\n") ?? "",
        /secret_ref_missing/
      )
    })
  )
  it.effect("keeps its revision, reports why and publishes nothing after its database has lost revisions", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const revisions = Context.get(stores, RevisionStore)
      const kept = { number: 1, hash: "" }
      let isLost = false
      const lossy = RevisionStore.of({
        ...revisions,
        head: Effect.suspend(() => (isLost ? Effect.succeed(kept) : revisions.head)),
        append: (...given) => (isLost ? Effect.die("appended") : revisions.append(...given))
      })
      const node = yield* startNode(Context.add(stores, RevisionStore, lossy), { document, node: "one" })
      yield* node.editor.publish("alice", edit(0, passes(7)))
      yield* node.editor.publish("alice", edit(1, passes(8)))
      kept.hash = (yield* revisions.read(1))?.hash ?? ""
      isLost = true
      yield* node.config.adoptHead() ?? Effect.void
      assert.strictEqual(passesOf(node), 8)
      const { converged, nodes } = yield* node.editor.status
      assert.isFalse(converged)
      assert.deepInclude(nodes[0], { state: "refused", revision: 1, active: 2 })
      assert.match(nodes[0]?.problems.map(inEnglish).join() ?? "", /has lost revisions; restore it from a backup/)
      const refused = yield* node.editor.publish("alice", { ...edit(1, passes(9)), operationId: "late" })
      assert.strictEqual(refused._tag === "Refused" ? refused.problems[0]?.code : refused._tag, "revisions_lost")
      const restored = yield* node.editor.restore("alice", { revision: 1, operationId: "back" })
      assert.strictEqual(restored._tag === "Refused" ? restored.problems[0]?.code : restored._tag, "revisions_lost")

      isLost = false
      yield* node.config.adoptHead() ?? Effect.void
      const found = yield* node.editor.status
      assert.isTrue(found.converged)
      assert.deepInclude(found.nodes[0], { state: "active", revision: 2, active: 2, problems: [] })
      const continued = yield* node.editor.publish("alice", edit(2, passes(9)))
      assert.strictEqual(continued._tag, "Committed")
    })
  )

  it.effect("keeps its revision while the store is unavailable", () =>
    Effect.gen(function* () {
      const [one] = yield* startNodes({ node: "one" })
      if (one === undefined) return
      yield* one.editor.publish("alice", edit(0, passes(7)))
      yield* one.revisions.reseal(1, (yield* one.revisions.head).hash, { document: "not JSON", hash: "h" })
      const adopted = yield* Effect.exit(one.config.adoptHead() ?? Effect.void)
      assert.strictEqual(adopted._tag, "Success")
      assert.strictEqual(passesOf(one), 7)
    })
  )
  it.effect("admits after two seconds while it activates a revision, and completes the activation", () =>
    Effect.gen(function* () {
      const [one, two] = yield* startNodes({ node: "one" }, { node: "two" })
      if (one === undefined || two === undefined) return assert.fail("no nodes")
      yield* one.editor.publish("alice", edit(0, passes(7)))
      const gate = yield* Deferred.make<void>()
      let kept = 0
      const archive = {
        keep: () => Effect.suspend(() => (++kept === 1 ? Effect.void : Deferred.await(gate))),
        find: () => Effect.undefined,
        pinned: Effect.succeed(new Set<string>()),
        replace: () => Effect.succeed(false)
      }
      yield* two.config.keepIn(archive)
      for (const seconds of ["2 seconds", "2 seconds"] as const) {
        const admission = yield* Effect.forkChild(two.config.adoptHead() ?? Effect.void, { startImmediately: true })
        yield* TestClock.adjust(seconds)
        yield* Fiber.join(admission)
        assert.notStrictEqual(passesOf(two), 7)
      }
      assert.strictEqual(kept, 2)
      yield* Deferred.succeed(gate, undefined)
      yield* two.config.adoptHead() ?? Effect.void
      assert.deepStrictEqual([passesOf(two), kept], [7, 2])
    })
  )
  it.live("reads a changed file again, and keeps the revision", () =>
    Effect.gen(function* () {
      const [one] = yield* startNodes({ node: "one" })
      if (one === undefined) return
      yield* one.editor.publish("alice", edit(0, passes(7), withSecret))
      const { file = "" } = one.config.layered() ?? {}
      const before = one.config.current().hash
      const text = readFileSync(file, "utf8")
      writeFileSync(file, `${text}review: {max_problems: 9}\n`)
      assert.strictEqual(yield* one.config.reload, "replaced")
      const { review } = one.config.current().document
      assert.deepStrictEqual([review.max_problems, review.max_passes, one.config.current().revision], [9, 7, 1])
      assert.deepStrictEqual([...one.config.current().triggers.keys()], ["main", "second"])
      assert.strictEqual((yield* one.config.pinned(before)).document.review.max_problems === 9, false)
      writeFileSync(file, `${text}review: {max_problems: wrong}\n`)
      assert.strictEqual(yield* one.config.reload, "refused")
      yield* one.editor.publish("alice", edit(1, passes(8)))
      assert.deepStrictEqual([passesOf(one), one.config.current().document.review.max_problems], [8, 9])
    })
  )
  it.effect("opens resealed credentials with the new key, and moved ciphertexts with none", () =>
    Effect.gen(function* () {
      const next = "22".repeat(32)
      const rotated = { SVC_CONFIG_SECRETS_KEY: next, SVC_CONFIG_SECRETS_KEY_PREVIOUS: sealingKey }
      const [one, two, last] = yield* startNodes(
        { node: "one" },
        { node: "two", env: rotated },
        { node: "last", env: { SVC_CONFIG_SECRETS_KEY: next } }
      )
      if (one === undefined || two === undefined || last === undefined) return
      yield* one.editor.publish("alice", edit(0, withSecret))
      yield* one.editor.publish("alice", edit(1, passes(7)))
      yield* last.config.adoptHead() ?? Effect.void
      assert.isFalse(last.config.current().triggers.has("second"))
      assert.deepInclude(yield* resealAll(two.editor, "alice"), { state: "done", checked: 2, resealed: 2, failed: [] })
      assert.deepInclude(yield* resealAll(two.editor, "alice"), { state: "done", checked: 2, resealed: 0, failed: [] })
      assert.deepStrictEqual(
        (yield* two.editor.previewRestore(1))?.diff.map(({ names }) => names),
        [["globals", "review"]]
      )
      yield* last.config.adoptHead() ?? Effect.void
      assert.isTrue(last.config.current().triggers.has("second"))

      const stored = yield* one.revisions.read(2)
      const moved = stored?.document.replace('"second"', '"third"') ?? ""
      yield* one.revisions.reseal(2, stored?.hash ?? "", { document: moved, hash: "moved" })
      yield* last.config.adoptHead() ?? Effect.void
      assert.isFalse(last.config.current().triggers.has("third"))
      const { nodes } = yield* last.editor.status
      assert.match(
        nodes
          .find(({ node }) => node === "last")
          ?.problems.map(inEnglish)
          .join() ?? "",
        /sealed for another place/
      )
    })
  )
})

describe("a start", () => {
  const route = { outputs: { routes: { rules: [{ match: { trigger: "second" }, summary: [] }] } } }
  it.effect("uses the newest revision that is valid with the file, to whose entities the file may refer", () =>
    Effect.gen(function* () {
      const [one] = yield* startNodes({ node: "one" })
      if (one === undefined) return
      yield* one.editor.publish("alice", edit(0, withSecret))
      yield* one.editor.publish("alice", edit(1, { op: "delete", entity: { kind: "triggers", name: "second" } }))
      const revisions = yield* Effect.forEach([2, 1], one.revisions.read)
      const stored = revisions.flatMap((revision) => (revision === undefined ? [] : [revision]))
      const env = { SVC_CONFIG_SECRETS_KEY: sealingKey }
      const start = (found: typeof stored) =>
        Effect.map(
          Layer.build(
            layerFile(writeConfig({ ...document, ...route }), env, { revisions: () => Effect.succeed(found) })
          ),
          (context) => Context.get(context, ConfigStore).current().revision
        )
      assert.strictEqual(yield* start(stored), 1)
      const refused = yield* Effect.flip(start(stored.slice(0, 1)))
      assert.match(refused.message, /second/)
    })
  )
})

describe("retention", () => {
  const cases = [
    ["max_count", { max_count: 12 }, "1 hour", [14, 3]],
    ["max_age_months", { max_age_months: 1 }, "40 days", [14, 4]]
  ] as const
  it.effect.each(cases)(
    "config_revisions.%s decides which revisions are removed",
    ([, kept, later, [newest, oldest]]) =>
      Effect.gen(function* () {
        const stores = yield* Layer.build(Layer.fresh(memoryStores))
        const options = { document: { ...document, storage: { retention: { config_revisions: kept } } } }
        // No node runs while the time passes, whose refreshes would all take place.
        yield* Effect.scoped(
          Effect.flatMap(startNode(stores, options), ({ editor }) =>
            Effect.forEach([...Array(14).keys()], (n) => editor.publish("alice", edit(n, passes(n + 1))))
          )
        )
        yield* TestClock.adjust(later)
        const { revisions } = yield* startNode(stores, options)
        yield* TestClock.adjust("1 second")
        const numbers = (yield* revisions.list({ limit: 50 })).items.map(({ number }) => number)
        assert.deepStrictEqual([numbers[0], numbers.at(-1)], [newest, oldest])
      })
  )
  it.effect("keeps revisions that work is pinned to, and removes old attempts and nodes that are gone", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(Layer.fresh(memoryStores))
      const kept = { max_count: 12, max_age_months: 1 }
      const options = { document: { ...document, storage: { retention: { config_revisions: kept } } } }
      const publish = (node: Effect.Success<ReturnType<typeof startNode>>, from: number, to: number) =>
        Effect.forEach(
          Array.from({ length: to - from }, (_, index) => from + index),
          (n) => node.editor.publish("alice", edit(n, passes(n + 1)))
        )
      yield* Effect.scoped(
        Effect.flatMap(startNode(stores, { ...options, node: "gone" }), (node) => publish(node, 0, 1))
      )
      yield* TestClock.adjust("40 days")
      const node = yield* startNode(stores, options)
      const archived = new Map<string, ArchivedDocument>()
      const pinned = new Set<string>()
      yield* node.config.keepIn({
        keep: (one) => Effect.sync(() => void archived.set(one.hash, one)),
        find: (hash) => Effect.sync(() => archived.get(hash)),
        pinned: Effect.sync(() => pinned),
        replace: () => Effect.succeed(false)
      })
      yield* publish(node, 1, 3)
      pinned.add(node.config.current().hash)
      yield* publish(node, 3, 19)
      const radius = (yield* node.editor.preview("alice", edit(19, passes(30)))).blastRadius
      yield* TestClock.adjust("61 minutes")
      const numbers = (yield* node.revisions.list({ limit: 50 })).items.map(({ number }) => number)
      assert.deepStrictEqual(numbers, [...Array.from({ length: 12 }, (_, index) => 19 - index), 3])
      assert.strictEqual(radius.pinnedSnapshots, 1)
      const audited = (yield* node.editor.audit({ limit: 50 })).items.filter(({ revision }) => revision === 1)
      assert.deepStrictEqual(audited, [])
      assert.deepStrictEqual(
        (yield* node.activations.list(0)).map((one) => one.node),
        ["node-1"]
      )
    })
  )
})

describe("calls that wait", () => {
  it.effect("do not start a second run while the first continues", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let runs = 0
      const call = yield* waitBriefly(Effect.suspend(() => (++runs === 1 ? Deferred.await(gate) : Effect.void)))
      for (let attempt = 0; attempt < 2; attempt++) {
        const waiting = yield* Effect.forkChild(call, { startImmediately: true })
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(waiting)
      }
      assert.strictEqual(runs, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* call
      assert.strictEqual(runs, 2)
    })
  )
  it.effect("share one run that starts after them", () =>
    Effect.gen(function* () {
      const gates = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let runs = 0
      const run = yield* coalesced(Effect.suspend(() => Deferred.await(gates[runs++] ?? Deferred.makeUnsafe<void>())))
      const first = yield* Effect.forkChild(run, { startImmediately: true })
      const others = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(run, { startImmediately: true }))
      for (const gate of gates) yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Effect.forEach(others, Fiber.join)
      assert.strictEqual(runs, 2)
    })
  )
})
