/**
 * Publishing 1 000 findings on 50 pull requests of every host: requests per review next to the minimum for the same work, and the
 * number of writes that people see, which are a second apart at GitHub.
 * The minimum: a pending and a final status, the summary, the review (GitLab: one draft per comment and their publication), and
 * one read of the head before each visible write. The difference is the search for comments that are not published, at Gitea and Forgejo. The hosts are the fakes of
 * the tests, which check every request against the host's API description.
 *
 * `burst_20_s`: seconds from the first delivery to the last summary of 20 changes of 3 files that are opened together, at a Gitea without limits
 * that takes 50 ms for each request.
 */
import { Context, Duration, Effect, Layer } from "effect"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import type { Change } from "../../src/domain/Change.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { HasNoOthers, WriteOwner } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { WriteGap } from "../../src/forge/Pacing.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../src/outputs/OutputsLayer.ts"
import { Cache } from "../../src/store/Cache.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { Installation, renderContent, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { analysis, change, finding, input } from "../outputs/Fixtures.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { inSnapshot } from "../outputs/InSnapshot.ts"
import { uncounted } from "../harness/Owners.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"

const changes = 50
const findingsEach = 20
const burst = 20
const requestMillis = 50
const repo = "team/shop"

const before = Array.from({ length: findingsEach }, (_, i) => `line ${i}`).join("\n")

/** Minimum number of requests for one review. */
const fewest = (kind: ForgeKind): number => {
  const statuses = 2
  // At GitHub the summary is the text of the review.
  const headReads = kind === "github" ? 1 : 2
  const summary = kind === "github" ? 0 : 1
  const review = kind === "gitlab" ? findingsEach + 1 : 1
  return statuses + headReads + summary + review
}

const prepare = async (forge: FakeForge): Promise<void> => {
  await forge.createRepository(repo)
  await forge.push(repo, { branch: "main", message: "start", files: { "src/a.ts": `${before}\n` } })
  for (let n = 1; n <= changes; n++) {
    const text = before.replaceAll("line", `change ${n} of`)
    await forge.push(repo, { branch: `b${n}`, from: "main", message: "change", files: { "src/a.ts": `${text}\n` } })
    await forge.createPull(repo, { title: `Change ${n}`, headBranch: `b${n}` })
  }
}

const servicesOf = (forge: FakeForge) => {
  const snapshot = { ...testSnapshot({}), triggers: new Map([["host", forge.profile()]]) }
  const layer = OutputsLayer.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        layerStatic(snapshot),
        Forges.layer,
        Cache.layerNone,
        memoryObjects,
        AuthorGuess.layerNone,
        uncounted
      )
    )
  )
  const services = Effect.runSync(Effect.scoped(Layer.build(layer)))
  return {
    outputs: inSnapshot(Context.get(services, Outputs), snapshot),
    client: Context.get(services, Forges).client(forge.profile())
  }
}

const measure = async (kind: ForgeKind) => {
  const forge = await startFakeForge(kind)
  await prepare(forge)
  const { outputs, client } = servicesOf(forge)
  let contents = 0
  for (let number = 1; number <= changes; number++) {
    const { head } = forge.pull(repo, number)
    const given: Change = {
      ...change,
      provider: kind,
      repo: { fullName: repo },
      target: { kind: "pull_request", number },
      head
    }
    const findings = Array.from({ length: findingsEach }, (_, i) => finding(i + 1))
    const own = input(findings, {
      change: given,
      head,
      targetKey: TargetKey.make(`host:${repo}:pull_request:${number}`),
      analysis: analysis(findings)
    })
    const rows = [
      ...outputs.status(own, "pending", verbatimReason("…")),
      ...outputs.plan(own),
      ...outputs.status(own, "success", verbatimReason("…"))
    ]
    // As the publisher does: the pull request is read once for each row, and the summary is the one comment of the run.
    let summaries = 0
    for (const row of rows) {
      const read = await Effect.runPromise(Effect.cached(client.pull(given.repo, number)))
      const guard = Effect.andThen(
        Effect.sync(() => contents++),
        Effect.asVoid(read)
      )
      const hasNoOthers = Effect.map(read, ({ comments = Infinity }) => comments <= summaries)
      await Effect.runPromise(
        outputs
          .send(own.workspace, given, row, undefined)
          .pipe(
            Effect.provide(WritePermits.layerAlone),
            Effect.provideService(WriteOwner, { fence: Effect.void, guard }),
            Effect.provideService(HasNoOthers, hasNoOthers),
            Effect.provideService(WriteGap, Duration.zero)
          )
      )
      if (row.operation._tag === "Summary") summaries++
    }
    const said = forge.pull(repo, number).reviews.flatMap((review) => review.comments).length
    if (said !== findingsEach) throw new Error(`${kind}: ${said} of ${findingsEach} comments stand on change ${number}`)
  }
  forge.expectContract()
  const requests = forge.requests.length
  await forge.stop()
  return { requests: requests / changes, fewest: fewest(kind), paced: contents / changes }
}

/** Returns the seconds from the first of several deliveries to the last summary. */
const measureBurst = async (): Promise<number> => {
  await using at = await Installation.make({ queue: "memory", concurrency: 8, perWorkspaceConcurrency: 8 })
  await at.aicr.start()
  const names = Array.from({ length: burst }, (_, index) => `burst-${index}`)
  const pulls: Array<DemoPull> = []
  for (const name of names) {
    const paths = [toFilePath(name), toFilePath(`${name}-b`), toFilePath(`${name}-c`)]
    const files = Object.fromEntries(paths.map((path) => [path, renderContent(name, 1)]))
    await at.forge.push("team/one", { branch: name, from: "main", message: name, files })
    pulls.push(await at.forge.createPull("team/one", { headBranch: name, title: name }))
  }
  at.host.onRequest = () => ({ kind: "slow", millis: requestMillis })
  const began = performance.now()
  await Promise.all(pulls.map((pull) => at.forge.notify(pull, "opened")))
  const open = () => pulls.filter((pull) => pull.comments.length === 0)
  await waitUntil(() => open().length === 0, {
    timeout: 120_000,
    describe: () => `${open().length} of ${burst} changes have no summary; the log:\n${at.aicr.log.slice(-4000)}`
  })
  return (performance.now() - began) / 1000
}

export const publish = {
  name: "publish",
  summary:
    "requests and pacing of 1 000 findings on 50 pull requests of every host, and the seconds that 20 changes at once take",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const result: Record<string, number> = {}
    let worst = 0
    for (const kind of ForgeKind.literals) {
      const { requests, fewest: least, paced } = await measure(kind)
      const ratio = requests / least
      worst = Math.max(worst, ratio)
      result[`${kind}_requests_per_review`] = Number(requests.toFixed(2))
      result[`${kind}_paced_writes_per_review`] = Number(paced.toFixed(2))
      process.stdout.write(
        `${kind.padEnd(8)} ${requests.toFixed(2)} requests per review, ${least} at least (x ${ratio.toFixed(2)}); ${paced.toFixed(0)} paced writes\n`
      )
    }
    result["requests_ratio"] = Number(worst.toFixed(3))
    result["burst_20_s"] = Number((await measureBurst()).toFixed(2))
    process.stdout.write(
      `the worst is x ${worst.toFixed(2)} (to reach: at most 1.15); ${burst} changes together took ${result["burst_20_s"]} s (to reach: at most 15)\n`
    )
    return result
  }
}
