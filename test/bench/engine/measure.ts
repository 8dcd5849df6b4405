/**
 * Reviews the patch again and again: for the memory, for the stalls while webhooks come in, and for the time, with its stages.
 * `max_stall_ms` includes what the service does for the webhooks, above all commits of SQLite, which wait for the disk:
 * `delivery_stall_ms` is the same load without a review, and `review_stall_ms` a review without load. A stall is the delay of a timer, so
 * other work on the machine is part of it; `..._busy_ms` is the time that the thread computed between two timers. The stages are those of
 * the fastest review, by the clock.
 */
import { fork } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { enableCompileCache } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Logger, Schema, Stream } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Agent, AgentError } from "../../../src/agent/Agent.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { ReportedProblem } from "../../../src/domain/Problem.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import type * as ChangeThreads from "../../../src/engine/ChangeThreads.ts"
import { reviewChange } from "../../../src/engine/ReviewChange.ts"
import { OwnAccounts } from "../../../src/forge/OwnAccounts.ts"
import { IngressServer } from "../../../src/ingress/Server.ts"
import { StoredFacts } from "../../../src/ingress/StoredFacts.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { Gateway, GatewayError } from "../../../src/llm/Gateway.ts"
import { layerMemory } from "../../../src/queue/journal/MemoryQueue.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import type { Checkout } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { repository, secret } from "../ingest/Agreement.ts"
import type { Load, Order, Stock } from "../ingest/load.ts"
import * as Stages from "./Stages.ts"
import { takeStages } from "./Stages.ts"
import { patchBytes, printDiff } from "./Task.ts"
import type { Task } from "./Task.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"

// As the program does at its start.
enableCompileCache(join(import.meta.dirname, "../../../node_modules/.cache/aicr"))

const stallRounds = 4
const timeRounds = 24
/** Splits the diff into blocks like those of a pipe. */
const chunkBytes = 65_536

const task: Task = JSON.parse(process.argv[2] ?? "{}")
const problems = Schema.decodeUnknownSync(Schema.Array(ReportedProblem))(JSON.parse(readFileSync(task.quotes, "utf8")))
const directory = mkdtempSync(join(tmpdir(), "aicr-engine-"))
process.on("exit", () => rmSync(directory, { recursive: true, force: true }))

const left: Array<ReportedProblem> = []
const agent = Agent.of({
  // The first of the passes finds them all.
  analyse: () =>
    Effect.succeed({
      problems: left.splice(0),
      summary: "measured",
      skipped: undefined,
      models: [],
      usage: noUsage,
      notices: []
    }),
  query: () =>
    Effect.succeed({
      outcome: {
        _tag: "Failed",
        error: new AgentError({ reason: "failed", why: verbatimReason("no model in a benchmark") })
      },
      models: [],
      usage: noUsage
    })
})
const gateway = Gateway.of({
  call: () => Effect.fail(new GatewayError({ reason: "unavailable", why: verbatimReason("no model in a benchmark") }))
})

const document = {
  llm: {
    providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
    model_chain: { default: [{ provider: "p", model: "m" }] }
  },
  triggers: [{ name: "hub", kind: "github", webhook_secret: secret }],
  workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: repository } } } },
  // Renames that git finds make the patch a little larger than it was cut to.
  review: { max_patch_bytes: 2 * patchBytes }
}

const ingress = IngressServer.layerWith({ port: 0 }).pipe(
  Layer.provide([
    Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
    Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" }),
    layerMemory({ perWorkspace: 1_000_000, total: 1_000_000 }),
    StoredFacts.layerUnpublished,
    OwnAccounts.layer
  ])
)

const timed = async (run: () => unknown): Promise<number> => {
  const started = performance.now()
  await run()
  return performance.now() - started
}

/** Measures the maximum delay of timers, and the time that the thread worked between two of them. */
const watchStalls = () => {
  let late = 0
  let busy = 0
  let last = performance.now()
  let used = threadMillis()
  const timer = setInterval(() => {
    const now = performance.now()
    const nowUsed = threadMillis()
    late = Math.max(late, now - last - 1)
    busy = Math.max(busy, nowUsed - used)
    last = now
    used = nowUsed
  }, 1)
  return () => {
    clearInterval(timer)
    return { late, busy }
  }
}

const threadMillis = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Memory of the process at its highest. */
const watchMemory = () => {
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5)
  return () => {
    clearInterval(timer)
    return most
  }
}

const fromFile = Stream.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => open(task.patch)),
      (file) => Effect.promise(() => file.close())
    ),
    (file) =>
      Stream.fromAsyncIterable(
        file.createReadStream({ highWaterMark: chunkBytes, autoClose: false }),
        (cause) => new CheckoutError({ reason: "failed", why: verbatimReason(String(cause)) })
      )
  )
)

const inMemory = () => {
  const patch = readFileSync(task.patch)
  const chunks: Array<Uint8Array> = []
  for (let at = 0; at < patch.length; at += chunkBytes) chunks.push(patch.subarray(at, at + chunkBytes))
  return Stream.fromIterable(chunks)
}

/** Sends deliveries over one connection as fast as they are taken. */
const startLoad = async (port: number) => {
  const child = fork(join(import.meta.dirname, "../ingest/load.ts"), [], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  const next = <A>() => new Promise<A>((resolve) => child.once("message", (message: A) => resolve(message)))
  await next()
  child.send({ _tag: "Stock", first: 1, deliveries: 2000, pulls: 100 } satisfies Stock)
  await next()
  return {
    /** The load while `work` runs. */
    beside: async (requests: number, work: () => Promise<void>): Promise<Load> => {
      const sent = next<Load>()
      child.send({ _tag: "Order", port, requests, connections: 1 } satisfies Order)
      await work()
      return await sent
    },
    stop: () => child.disconnect()
  }
}

const measure = Effect.gen(function* () {
  const snapshot = yield* toSnapshot(document, {})
  const workspace = snapshot.workspaces.get("app")
  if (workspace === undefined) return yield* Effect.die("the workspace of the benchmark is missing")
  const { port } = yield* IngressServer
  const checkout = yield* (yield* Vcs).checkout({
    url: task.root,
    mirror: "bench",
    authorization: undefined,
    head: task.head,
    base: task.base,
    headRef: undefined,
    baseRef: undefined,
    rules: undefined,
    compare: "endpoints"
  })
  const context = yield* Effect.context<Agent | Catalog | ChangeThreads.ChangeThreads | Gateway>().pipe(
    Effect.map(Context.add(ModelRun, { id: "bench", repository: "bench" }))
  )
  let anchored = 0
  const review = async (diff: ReturnType<Checkout["diff"]>): Promise<void> => {
    left.push(...problems)
    const analysis = await Effect.runPromiseWith(context)(
      reviewChange({
        snapshot,
        workspace,
        checkout: { ...checkout, diff: () => diff },
        title: "Sources",
        description: undefined,
        filters: { watchPath: [], include: [], exclude: [] }
      })
    )
    anchored = analysis.findings.filter((finding) => finding.anchor !== undefined).length
  }

  const before = process.memoryUsage.rss()
  const peak = watchMemory()
  yield* Effect.promise(() => review(Stream.scoped(fromFile)))
  const most = peak()

  const load = yield* Effect.promise(() => startLoad(port))
  const stalls: Array<{ readonly late: number; readonly busy: number }> = []
  const answers: Array<number> = []
  for (let round = 0; round < stallRounds; round++) {
    const { failures, failure, p99 } = yield* Effect.promise(() =>
      load.beside(1000, async () => {
        const late = watchStalls()
        await review(Stream.scoped(fromFile))
        stalls.push(late())
      })
    )
    if (failures > 0) return yield* Effect.die(`deliveries were not taken: ${failure}`)
    answers.push(p99)
  }
  const unloaded = watchStalls()
  for (let round = 0; round < stallRounds; round++) yield* Effect.promise(() => review(Stream.scoped(fromFile)))
  const alone = unloaded()
  const unreviewed = watchStalls()
  yield* Effect.promise(() => load.beside(1000, () => Promise.resolve()))
  const deliveries = unreviewed()
  load.stop()

  const patch = inMemory()
  const git: Array<number> = []
  const ours: Array<number> = []
  let stages = takeStages()
  for (let round = 0; round < timeRounds; round++) {
    git.push(yield* Effect.promise(() => timed(() => printDiff(task.root, task.base, task.head))))
    takeStages()
    const took = yield* Effect.promise(() => timed(() => review(patch)))
    if (took <= Math.min(...ours)) stages = takeStages()
    ours.push(took)
  }
  const bytes = readFileSync(task.patch).length
  return {
    ratio: Math.min(...ours) / Math.min(...git),
    memory_ratio: (most - before) / bytes,
    max_stall_ms: Math.max(...stalls.map(({ late }) => late)),
    max_busy_ms: Math.max(...stalls.map(({ busy }) => busy)),
    review_stall_ms: alone.late,
    review_busy_ms: alone.busy,
    delivery_stall_ms: deliveries.late,
    delivery_busy_ms: deliveries.busy,
    ...Object.fromEntries([...stages].map(([stage, millis]) => [`${stage}_ms`, millis])),
    patch_bytes: bytes,
    git_ms: Math.min(...git),
    engine_ms: Math.min(...ours),
    delivery_p99_ms: Math.max(...answers),
    anchored
  }
})

const result = await measure.pipe(
  Effect.scoped,
  Effect.provide([
    layerGit({ root: join(directory, "mirrors"), limits: () => localLimits, allowLocal: true }),
    Layer.succeed(Agent, agent),
    Layer.succeed(Gateway, gateway),
    Catalog.layerOffline,
    Stages.layer,
    ingress
  ]),
  // Printing the log would be part of the time.
  Effect.provide(Logger.layer([])),
  Effect.runPromise
)
process.send?.(result, () => process.exit(0))
