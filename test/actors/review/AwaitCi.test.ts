/** The evidence of CI for a review: read, waited for or named as missing, by the configuration of its workspace. */
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { awaitCi } from "../../../actors/review/AwaitCi.ts"
import type { CiArtifact, CiRun, ForgeClient, HostCi } from "../../../src/forge/Forge.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { layerFiles } from "../../../src/store/objects/FileObjects.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testThreads } from "../../harness/Threads.ts"
import { makeZip } from "../../harness/Zip.ts"
import { temporaryFolder } from "../../vcs/Repository.ts"

const sarif = makeZip([
  {
    name: "a.sarif",
    content: JSON.stringify({
      runs: [
        {
          tool: { driver: { name: "Tool" } },
          results: [
            { locations: [{ physicalLocation: { artifactLocation: { uri: "a.ts" }, region: { startLine: 1 } } }] }
          ]
        }
      ]
    })
  }
])

/** CI with one artifact in its first run. */
const ciWith = (runs: ReadonlyArray<CiRun>, artifact = "sarif-eslint", hasMore = false): HostCi => ({
  runs: () => Effect.succeed({ items: runs, hasMore }),
  artifacts: (_repo, _head, { id }) => {
    const items: ReadonlyArray<CiArtifact> = id === 1 ? [{ id: 7, name: artifact, bytes: sarif.length }] : []
    return Effect.succeed({ items, hasMore: false })
  },
  download: () => Effect.succeed({ _tag: "Bytes", bytes: sarif })
})
const refused = (reason: ForgeError["reason"]): HostCi => ({
  ...ciWith([]),
  runs: () => Effect.fail(new ForgeError({ reason, operation: "GET /runs", why: verbatimReason("GET /runs failed") }))
})

const ended: CiRun = { id: 1, hasEnded: true }
const running: CiRun = { id: 2, hasEnded: false }

interface Options {
  readonly evidence: object
  readonly ci: HostCi | undefined
  readonly root?: string
  readonly waitedMinutes?: number
}

const attempt = ({ ci, evidence, root = temporaryFolder(), waitedMinutes }: Options) => {
  const waits: Array<string> = []
  const noForge = testForges(Effect.die("unexpected"))
  const client = { ...noForge.client({ kind: "gitea" } as never), ci } satisfies ForgeClient
  const world = Layer.mergeAll(
    Layer.succeed(Forges, { ...noForge, client: () => client }),
    Layer.mock(Runs, {
      wait: (_id, _token, { reason }) =>
        Effect.as(
          Effect.sync(() => waits.push(inEnglish(reason))),
          true
        )
    }),
    layerFiles({ root }),
    testThreads
  )
  const snapshot = testSnapshotWith("w", "t", { review: { evidence: { ci: evidence } } }).current()
  const workspace = snapshot.workspaces.get("w")
  const profile = snapshot.triggers.get("t")
  if (workspace === undefined || profile === undefined) throw new Error("no workspace")
  const run = {
    id: "run-1",
    head: "h",
    change: { repo: { fullName: "team/app" } },
    waitingSince: waitedMinutes === undefined ? undefined : Date.now() - waitedMinutes * 60_000
  }
  const work = { workspace, profile, lease: { token: 1 } }
  return Effect.runPromise(
    Effect.map(Effect.provide(awaitCi(run as never, work as never), world), (outcome) => ({ outcome, waits }))
  )
}

const notices = async (options: Options) => {
  const { outcome } = await attempt(options)
  return outcome._tag === "Read" ? outcome.evidence?.notices.map(inEnglish) : [inEnglish(outcome.reason)]
}

it("is nothing unless artifacts are named", async () => {
  const { outcome } = await attempt({ evidence: { wait_minutes: 10 }, ci: ciWith([running]) })
  expect(outcome).toEqual({ _tag: "Read", evidence: undefined })
})

it("has the results of artifacts whose names match", async () => {
  const evidence = { artifacts: ["coverage", "sarif-*"] }
  const { outcome } = await attempt({ evidence, ci: ciWith([ended]) })
  expect(outcome).toEqual({
    _tag: "Read",
    evidence: {
      version: 1,
      results: [{ tool: "Tool", rule: "", message: "", uri: "a.ts", start: 1, end: 1 }],
      notices: []
    }
  })
  expect(await notices({ evidence, ci: ciWith([ended], "other") })).toEqual([
    "No artifact of the CI runs matches review.evidence.ci.artifacts."
  ])
})

it("is waited for as long as the configuration allows", async () => {
  const ci = ciWith([ended, running])
  const evidence = { artifacts: ["*"], wait_minutes: 20 }
  const { outcome, waits } = await attempt({ evidence, ci, waitedMinutes: 19 })
  expect(outcome).toMatchObject({ _tag: "Waiting" })
  expect(waits).toEqual(["waits for the CI runs of the commit (1 of 2 have ended)"])
  expect(await notices({ evidence, ci, waitedMinutes: 20 })).toEqual([
    "1 of 2 CI runs of this commit had not ended after 20 minutes (review.evidence.ci.wait_minutes); what they store later was not read."
  ])
})

it("is not waited for where the host refuses, which is named", async () => {
  const evidence = { artifacts: ["*"], wait_minutes: 20 }
  expect(await notices({ evidence, ci: refused("forbidden") })).toEqual([
    "The CI runs of this commit were not read: the credential may not read CI."
  ])
  expect(await notices({ evidence, ci: refused("unavailable") })).toEqual(["waits for the CI runs of the commit"])
  expect(await notices({ evidence, ci: undefined })).toEqual([
    "Artifacts of CI (review.evidence.ci) were not read: the API of gitea has none."
  ])
})

it("names runs beyond those that the host lists", async () => {
  expect(await notices({ evidence: { artifacts: ["*"] }, ci: ciWith([ended], "sarif", true) })).toEqual([
    "Only the newest 1 CI runs of this commit were searched for artifacts."
  ])
})

it("stays what the first attempt read", async () => {
  const root = temporaryFolder()
  const evidence = { artifacts: ["*"] }
  const first = await attempt({ evidence, ci: ciWith([ended]), root })
  expect(await attempt({ evidence, ci: refused("unavailable"), root })).toEqual(first)
})
