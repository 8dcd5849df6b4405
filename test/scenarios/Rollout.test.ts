/** Rollouts, one node at a time while changes arrive: a configuration with another workspace, and another release of the program. */
import { expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { programFolder } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { makeToken, postedOn } from "../harness/Installation.ts"
import { OtherRelease } from "../harness/OtherRelease.ts"
import type { Change } from "../harness/OtherRelease.ts"
import { waitUntil } from "../harness/Wait.ts"

const names = ["one", "two"] as const

/** Returns what is posted on each change and its number of model calls, once nothing is left to do, and runs that did not succeed. */
const settle = async (at: ClusterInstallation, pulls: ReadonlyArray<DemoPull>) => {
  await at.reviewed(pulls, 120_000)
  await at.settled()
  return {
    changes: pulls.map((pull) => ({ ...postedOn(pull), calls: at.countModelCalls(pull.headBranch) })),
    failed: await at.query("SELECT status, reason FROM runs WHERE status <> 'succeeded'")
  }
}

/** A review that takes longer than a stop waits for is interrupted, which a node logs: its next attempt may call the model again. */
const countInterrupted = (at: ClusterInstallation, pull: DemoPull): number =>
  [...at.nodes.values()]
    .flatMap(({ log }) => log.split("\n"))
    .filter((line) => line.includes("review interrupted by the stop"))
    .filter((line) => line.includes(`${pull.repository.fullName}:pull_request:${pull.number}"`)).length

/** Returns the changes that were not reviewed, or published or paid for more often than once, and the runs that failed. */
const findWrong = async (at: ClusterInstallation, pulls: ReadonlyArray<DemoPull>): Promise<ReadonlyArray<unknown>> => {
  const { changes, failed } = await settle(at, pulls)
  const wrong = pulls.flatMap((pull, index) => {
    const { calls = 0, reviews, summaries } = changes[index] ?? {}
    const isOnce = String(reviews) === pull.head && summaries === 1
    return isOnce && calls > 0 && calls <= 1 + countInterrupted(at, pull)
      ? []
      : [{ pull: pull.number, calls, reviews, summaries }]
  })
  return [...wrong, ...failed]
}

it("a workspace with a token of its own is added node by node: no review of it fails on nodes without them", async () => {
  await using at = await ClusterInstallation.make({ repositories: 3, configured: 2, dailyUsd: 50 })
  await Promise.all(names.map((name) => at.start(name, "all", { TEST_TOKEN_2: "" })))
  const pulls: Array<DemoPull> = []
  const deliver = async (repository: number, to: string): Promise<void> => {
    const pull = await at.open(`change-${pulls.length}`, at.repositories[repository] ?? "")
    pulls.push(pull)
    await at.deliver(pull, "opened", to)
  }
  for (const name of names) {
    await at.node(name).stop()
    await at.configure(name, 3)
    at.node(name).setEnv({ TEST_TOKEN_2: makeToken(2) })
    await at.node(name).start()
    for (const repository of [0, 1, 2, 2, 2]) await deliver(repository, name)
  }
  expect(await findWrong(at, pulls)).toEqual([])
}, 300_000)

/** The next release: records, messages of the queue and node records have fields that are unknown to this release. */
const nextRelease: ReadonlyArray<Change> = [
  [
    "src/domain/Change.ts",
    "full: Schema.optional(Schema.Literal(true))\n",
    "full: Schema.optional(Schema.Literal(true)),\n  received: Schema.optional(Schema.String)\n"
  ],
  ["src/admission/Admit.ts", "const common = {", 'const common = { received: "by the next release",'],
  [
    "src/queue/journal/NatsMessages.ts",
    "rows: Schema.String, details: Details })",
    "rows: Schema.String, details: Details, release: Schema.optional(Schema.String) })"
  ],
  ["src/queue/journal/NatsJournal.ts", "encode({ id,", 'encode({ release: "next", id,'],
  ["src/admin/nodes/NatsPresence.ts", "return { owner,", 'return { zone: "north", owner,']
]

/** Opens a change in each repository. */
const deliverAll = async (at: ClusterInstallation, pulls: Array<DemoPull>): Promise<void> => {
  for (const repository of at.repositories) {
    const pull = await at.open(`change-${pulls.length}`, repository)
    pulls.push(pull)
    await at.deliver(pull)
  }
}

const replace = async (at: ClusterInstallation, name: string, program: string): Promise<void> => {
  await at.node(name).stop()
  at.node(name).setProgram(program)
  await at.node(name).start()
}

it("releases replace each other node by node, forth and back", async () => {
  using next = new OtherRelease("0.9.0", nextRelease)
  await using at = await ClusterInstallation.make({ repositories: 2, dailyUsd: 50, queue: "nats" })
  await Promise.all(names.map((name) => at.start(name, "all")))
  const pulls: Array<DemoPull> = []
  for (const program of [next.folder, programFolder]) {
    for (const name of names) {
      await replace(at, name, program)
      await deliverAll(at, pulls)
      const { warnings }: { warnings?: ReadonlyArray<{ readonly _tag: string }> } = Object(
        await (await fetch(`${at.node("two").url}/readyz`)).json()
      )
      const isMixed = name !== names.at(-1)
      expect([name, warnings?.some(({ _tag }) => _tag === "VersionsDiffer") ?? false]).toEqual([name, isMixed])
    }
  }
  expect(await findWrong(at, pulls)).toEqual([])
}, 600_000)

const step = "0002_next_release"
/** The next release with a step of the schema. */
const nextSchema: ReadonlyArray<Change> = [
  ...nextRelease,
  [
    "src/store/schema/Migrations.ts",
    "parts.flatMap((part) => part(dialect)) }",
    `parts.flatMap((part) => part(dialect)),
      "${step}": () => ["ALTER TABLE runs ADD COLUMN next_release TEXT", "CREATE INDEX runs_next ON runs (next_release)"] }`
  ]
]

it("a release with a step of the schema replaces this one node by node; this one does not start after it", async () => {
  using next = new OtherRelease("1.0.0", nextSchema)
  await using at = await ClusterInstallation.make({ repositories: 2, dailyUsd: 50, queue: "nats" })
  await Promise.all(names.map((name) => at.start(name, "all")))
  const pulls: Array<DemoPull> = []
  await deliverAll(at, pulls)
  for (const name of names) {
    await replace(at, name, next.folder)
    await deliverAll(at, pulls)
  }
  expect(await findWrong(at, pulls)).toEqual([])
  const [one] = names
  await at.node(one).kill()
  at.node(one).setProgram(programFolder)
  at.node(one).spawn()
  const refusal = `The database has the migrations ${step}, which are unknown`
  await waitUntil(() => at.node(one).log.includes(refusal), {
    timeout: 60_000,
    describe: () => at.node(one).log.slice(-4000)
  })
}, 600_000)
