/**
 * Publishing against hosts that behave like the real ones: whatever goes wrong at whatever step, the change ends with each comment once.
 * `publish` below does what the publisher of the service does with its outbox: send, look up what is unknown, try again.
 */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { OperationId, TargetKey } from "../../../src/domain/Keys.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { MemberFiles } from "../../../src/chat/members/MemberFiles.ts"
import type { Operation, Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import type { Fault } from "../../../demo/DemoForge.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import type { ForgeClient } from "../../../src/forge/Forge.ts"
import type { ForgeError } from "../../../src/forge/ForgeError.ts"
import type {
  ChannelKind,
  ChannelMissing,
  Planned,
  PublishInput,
  ChannelContext
} from "../../../src/outputs/channels/Channel.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMarkers } from "../../../src/outputs/Marker.ts"
import { noCache } from "../../../src/store/Cache.ts"
import { file, repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { isWhole } from "../../harness/Samples.ts"
import { analysis, change, channel, finding, input, renderError, workspace } from "../Fixtures.ts"
import { newTraffic } from "../../harness/Owners.ts"
import { isSummary, listSummaries } from "../../harness/Summaries.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const rows = {
  gitea: table.gitea_pr_review,
  forgejo: table.gitea_pr_review,
  github: table.github_pr_review,
  gitlab: table.gitlab_mr_review
}

const at = (n: number, line: number): Finding => finding(n, {}, { path: file, side: "new", line })
/** Problems on a changed, an added and a removed line. */
const good = [at(1, 20), at(2, 29), finding(3, {}, { path: file, side: "old", line: 22 })]
const unplaceable = at(9, 3)

const inputFor = (host: Host, findings: ReadonlyArray<Finding>, more: Partial<PublishInput> = {}): PublishInput =>
  input(findings, { change: { ...change, provider: host.forge.kind }, head: host.pull.head, ...more })

/** Goes through the rows as the publisher does. Returns how each ended. */
const publish = async (
  kind: ChannelKind,
  client: ForgeClient,
  given: PublishInput,
  previous?: Publication
): Promise<ReadonlyArray<Publication>> => {
  const done: Array<Publication> = []
  const waiting = [...written(kind, given)]
  for (let planned = waiting.shift(); planned !== undefined; planned = waiting.shift()) {
    const publication = row(planned.operationId, planned.operation)
    done.push(await publishOne(kind, client, given, publication, previous, (next) => waiting.unshift(...next)))
  }
  return done
}

/** The rows without those that settle earlier comments (Threads.test.ts). */
const written = (kind: ChannelKind, given: PublishInput, parts = { lineComments: true, summary: true }) =>
  kind.plan(given, channel(), parts).filter(({ operation }) => operation._tag !== "Threads")

const row = (operationId: string, operation: Operation): Publication => ({
  id: operationId,
  operationId: OperationId.make(operationId),
  runId: "run-1",
  targetKey: TargetKey.make("host:team/shop:pull_request:1"),
  channel: "gitea_pr_review",
  operation,
  status: "pending",
  position: 0,
  attempts: 0
})

const publishOne = async (
  kind: ChannelKind,
  client: ForgeClient,
  given: PublishInput,
  publication: Publication,
  previous: Publication | undefined,
  follow: (next: ReadonlyArray<Planned>) => void = () => {}
): Promise<Publication> => {
  for (let attempts = 0; attempts < 8; attempts++) {
    const sent = await run(
      Effect.result(orDie(kind.send(context(client, given), { ...publication, attempts }, previous)))
    )
    if (sent._tag === "Success") {
      follow(sent.success.next ?? [])
      const status = sent.success.nothingToDo === undefined ? "sent" : "nothing_to_do"
      return { ...publication, status, hostId: sent.success.hostId, error: sent.success.nothingToDo }
    }
    if (final(sent.failure)) return { ...publication, status: "failed", error: sent.failure.why }
    if (sent.failure.reason !== "unknown_outcome") continue
    const found = await run(orDie(kind.find(context(client, given), publication)))
    if (found !== undefined) {
      follow(found.next ?? [])
      return { ...publication, status: "sent", hostId: found.hostId }
    }
  }
  throw new Error("not published within 8 attempts")
}

const context = (client: ForgeClient, given: PublishInput): ChannelContext => ({
  client: Effect.succeed(client),
  change: given.change,
  reviewed: given.change,
  workspace: given.workspace,
  channel: channel(),
  credential: () => undefined,
  cache: noCache,
  members: MemberFiles.none
})

/** All channels exist in these tests. */
const orDie = <A, R>(effect: Effect.Effect<A, ForgeError | ChannelMissing, R>): Effect.Effect<A, ForgeError, R> =>
  Effect.catchTag(effect, "ChannelMissing", Effect.die)

const final = ({ reason }: ForgeError): boolean =>
  ["unauthorized", "forbidden", "not_found", "conflict", "invalid"].includes(reason)

/** Fingerprints of everything of ours on the pull request, at lines and in comments. */
const existing = ({ pull }: Host) => {
  const own = [...pull.comments.filter((comment) => comment.user.login === "aicr"), ...pull.reviews.filter(isSummary)]
  const inline = pull.reviews.flatMap((review) => review.comments)
  const fps = (bodies: ReadonlyArray<string>) =>
    bodies.flatMap((body) => parseMarkers(body).flatMap((marker) => marker.fp ?? [])).toSorted()
  return {
    inline: fps(inline.map((comment) => comment.body)),
    lines: inline.map(({ side, line }) => `${side} ${line}`).toSorted(),
    comments: fps(own.map((comment) => comment.body))
  }
}

const complete = {
  inline: good.map((one) => one.fingerprint),
  lines: ["new 20", "new 29", "old 22"],
  comments: ["summary"]
}

describe.each(ForgeKind.literals)("publishing to %s", (kind) => {
  let host: Host | undefined
  const start = async (): Promise<Host> => {
    host = await startHost(kind)
    return host
  }
  afterEach(async () => {
    const violations = host?.forge.violations
    await host?.forge.stop()
    expect(violations).toEqual([])
  })

  it("writes one summary and each problem at its line, with few requests", async () => {
    const here = await start()
    const sent = await publish(rows[kind], here.client, inputFor(here, good))
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(["sent"]))
    expect(existing(here)).toEqual(complete)
    // Summary and review, which are one write at GitHub; GitLab writes its comments as drafts and publishes them.
    expect(here.forge.writes()).toHaveLength({ gitea: 2, forgejo: 2, github: 1, gitlab: 1 + 3 + 1 }[kind])
  })

  const faults: ReadonlyArray<readonly [string, Fault]> = [
    ["lost", fault.lost],
    ["cut", fault.cut],
    ["500", fault.broken],
    ["503", fault.unavailable],
    ["429", fault.tooMany("0")],
    ["403 rate limit", fault.answered(403, { message: "rate limit" }, { "retry-after": "0" })]
  ]
  const steps = { gitea: [1, 2], forgejo: [1, 2], github: [1], gitlab: [1, 2, 3, 4, 5] }[kind]
  // Each write fails with half of the faults; with AICR_TEST_FAULTS=all with each of them.
  const cases = faults.flatMap(([name, thrown], index) =>
    steps
      .filter((step) => isWhole("AICR_TEST_FAULTS") || kind === "github" || (index + step) % 2 === 0)
      .map((step) => [name, step, thrown] as const)
  )
  it.each(cases)("writes each once when %s happens at write %i", async (_, step, thrown) => {
    const here = await start()
    let writes = 0
    const broken = await startFaulty(here, (method) => (method !== "GET" && ++writes === step ? thrown : undefined))
    await publish(rows[kind], broken, inputFor(here, good))
    expect(existing(here)).toEqual(complete)
  })

  it("finds its summary again, updates it on the next head and keeps only one", async () => {
    const here = await start()
    const [first] = await publish(rows[kind], here.client, inputFor(here, good))
    await here.forge.push(repoName, { branch: "feature/x", message: "more", files: { "new.txt": "x\n" } })
    const second = inputFor(here, [], { analysis: analysis([], { summary: "All is well now." }) })
    await publish(rows[kind], here.client, second, first)
    expect(existing(here).comments).toEqual(["summary"])
    expect(listSummaries(here.pull).at(-1)?.body).toContain("All is well now.")
    // Without a record of it, and after a person deleted it.
    await publish(rows[kind], here.client, inputFor(here, [], { analysis: analysis([], { summary: "Third." }) }))
    expect(listSummaries(here.pull).at(-1)?.body).toContain("Third.")
    expect(existing(here).comments).toEqual(["summary"])
    here.pull.comments.splice(0)
    here.pull.reviews.splice(0)
    const text = { analysis: analysis([], { summary: "Fourth." }) }
    const [unwritten] = await publish(rows[kind], here.client, inputFor(here, [], text), first)
    // A clean review writes no summary where none exists, and reports that.
    expect(unwritten).toMatchObject({ status: "nothing_to_do", error: { _tag: "NoSummaryToUpdate" } })
    expect(here.pull.comments).toEqual([])
    const loud = workspace({ no_problems: { action: "publish" } })
    await publish(rows[kind], here.client, inputFor(here, [], { ...text, workspace: loud }), first)
    expect(here.pull.comments.map((comment) => comment.body.includes("Fourth."))).toEqual([true])
  })

  it("moves a refused line to the summary and keeps the rest at its lines", async () => {
    const here = await start()
    const sent = await publish(rows[kind], here.client, inputFor(here, [...good, unplaceable]))
    expect(sent.map(({ status }) => status)).toEqual(["sent", "sent"])
    expect(existing(here).lines).toEqual(complete.lines)
    expect(existing(here).inline).toEqual(complete.inline)
    expect(existing(here).comments).toEqual([unplaceable.fingerprint, "summary"].toSorted())
    const [summary] = here.pull.comments.filter((comment) => comment.user.login === "aicr")
    expect(summary?.body).toContain("Message 9")
    expect(summary?.body).toContain(`\`${file}\`:3`)
  })

  it("writes refused lines once when the response to that is lost", async () => {
    const here = await start()
    const updates = kind === "gitlab" ? "PUT" : "PATCH"
    let lost = 0
    const broken = await startFaulty(here, (method) => (method === updates && lost++ === 0 ? fault.lost : undefined))
    await publish(rows[kind], broken, inputFor(here, [...good, unplaceable]))
    expect(lost).toBeGreaterThan(0)
    expect(existing(here).comments).toEqual([unplaceable.fingerprint, "summary"].toSorted())
    expect(existing(here).inline).toEqual(complete.inline)
  })

  it("gives refused lines a comment of their own where there is no summary", async () => {
    const here = await start()
    const given = inputFor(here, [at(1, 20), unplaceable])
    const planned = written(rows[kind], given, { lineComments: true, summary: false })
    expect(planned.map(({ operation }) => operation._tag)).toEqual(["Review"])
    for (const { operationId, operation } of planned) {
      await publishOne(rows[kind], here.client, given, row(operationId, operation), undefined)
    }
    expect(existing(here).comments).toEqual([unplaceable.fingerprint])
  })

  it("reports on the run what the host refuses for good, and continues", async () => {
    const here = await start()
    here.forge.fail(kind === "gitlab" ? "/draft_notes" : "/reviews", fault.forbidden, 99)
    const sent = await publish(rows[kind], here.client, inputFor(here, good))
    expect(sent.map(({ status }) => status)).toEqual(["sent", "failed"])
    expect(renderError(sent[1])).toContain("403")
  })

  it("does not repeat comments when the same head is reviewed again on request", async () => {
    const here = await start()
    await publish(rows[kind], here.client, inputFor(here, good))
    const asked = inputFor(here, good, { runId: "run-2" })
    await publish(rows[kind], here.client, { ...asked, change: { ...asked.change, requestedBy: "dana" } })
    expect(existing(here)).toEqual(complete)
  })

  it("takes over after a process died between any two requests", async () => {
    const here = await start()
    const given = inputFor(here, [...good, unplaceable])
    const waiting = [...written(rows[kind], given)]
    for (let planned = waiting.shift(); planned !== undefined; planned = waiting.shift()) {
      const { operationId, operation } = planned
      for (let allowed = 0; ; allowed++) {
        // The process dies when it wants to send one more write than `allowed`.
        let writes = 0
        const dying = await startFaulty(here, (method) =>
          method !== "GET" && ++writes > allowed ? fault.cut : undefined
        )
        const publication = row(operationId, operation)
        const result = await run(
          Effect.result(orDie(rows[kind].send(context(dying, given), { ...publication, attempts: allowed }, undefined)))
        )
        const sent =
          result._tag === "Success"
            ? result.success
            : await run(orDie(rows[kind].find(context(here.client, given), publication)))
        if (sent !== undefined) {
          waiting.unshift(...(sent.next ?? []))
          break
        }
        expect(allowed).toBeLessThan(20)
      }
    }
    expect(existing(here)).toEqual({ ...complete, comments: [unplaceable.fingerprint, "summary"].toSorted() })
  })
})

/** The same client with faults by order of request. The connection to the host stays the real one. */
const startFaulty = async (host: Host, faultOf: (method: string) => Fault | undefined): Promise<ForgeClient> => {
  host.forge.intercept((request) => faultOf(request.method))
  return forgeTable[host.forge.kind].client(host.forge.profile(), newTraffic())
}
