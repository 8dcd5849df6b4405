/** Reviews recorded with a real gateway and a fake model, and run again from their evidence: same, changed, and with pieces missing. */
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Layer, Logger } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { compareFindings } from "../../src/engine/record/CompareFindings.ts"
import { replayRun } from "../../src/engine/ReplayRun.ts"
import { reviewOnRecord } from "../../src/engine/ReviewOnRecord.ts"
import { scrubDiff } from "../../src/engine/work/RecordWork.ts"
import { Budget } from "../../src/llm/Budget.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { layerMemory } from "../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../src/llm/Evidence.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../src/llm/Limiter.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { recordedResponses } from "../../src/llm/RecordedGateway.ts"
import * as FileObjects from "../../src/store/objects/FileObjects.ts"
import type { Run } from "../../src/store/Runs.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { scrubText } from "../../src/review/ScrubText.ts"
import { startFakeModel, verdictsOn } from "../harness/FakeModel.ts"
import type { FakeModel, Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { startGitServer } from "../vcs/GitServer.ts"
import type { GitServer } from "../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"
import { testThreads } from "../harness/Threads.ts"
import { owned } from "../harness/Owners.ts"

const projects = temporaryFolder()
const library = makeRepository(join(projects, "library"))
library.write("lib.ts", "export const f = 1\n")
library.commit()

const repository = makeRepository()
repository.write("AGENTS.md", "Be strict.\n")
repository.write("src/a.ts", Array.from({ length: 60 }, (_, at) => `const a${at} = ${at}\n`).join(""))
repository.write("src/b.ts", 'const b = 1\nexport const refund = (token = "hunter2-is-9-old") => b\n')
// The use of a changed name is in the line of a secret, whose name is in the line before.
repository.write(
  "src/use.ts",
  'import { refund } from "./b"\nexport const password =\n  "hunter2-is-9-used" + refund(1)\n'
)
const base = repository.commit()
repository.write("src/a.ts", Array.from({ length: 60 }, (_, at) => `const a${at} = ${at === 30 ? -1 : at}\n`).join(""))
repository.write(
  "src/b.ts",
  'const b = 2\nconst password = "hunter2-is-9-long"\nexport const refund = (now: Date, token = "hunter2-is-9-new") => b\n'
)
const head = repository.commit()

const report = (file: string, quote: string, severity: string, message = "It is wrong.") => ({
  name: "report_problem",
  input: { file, severity, category: "correctness", title: `Wrong ${quote}`, message, quote }
})

/** Reads beyond the diff first, then reports; confirms every finding in the verification. */
const answer = (request: Recorded): Reply => {
  const verdicts = verdictsOn(request.text)
  if (verdicts !== undefined) return verdicts
  if (!request.text.includes("export const f = 1")) {
    return {
      calls: [
        { name: "fetch_more_context", input: { path: "src/a.ts", range: "1-5", reason: "r" } },
        { name: "fetch_more_context", input: { path: "lib:lib.ts", reason: "r" } },
        { name: "search_code", input: { pattern: "export const \\w+ = 1" } },
        { name: "find_references", input: { name: "f", path: "lib:" } },
        { name: "list_files", input: { path: "src" } },
        { name: "try_blame", input: { path: "src/a.ts", range: "31", reason: "r" } }
      ]
    }
  }
  const strict = request.text.includes("Look at b alone")
  return {
    calls: [
      ...(strict ? [] : [report("src/a.ts", "const a30 = -1", "high")]),
      report("src/b.ts", "const b = 2", "low"),
      report("src/b.ts", "const password =", "medium", "A password in the code."),
      { name: "publish_summary", input: { markdown: "Done." } }
    ]
  }
}

let model: FakeModel
let server: GitServer
beforeAll(async () => {
  model = await startFakeModel(answer)
  server = await startGitServer({ root: projects })
})
afterAll(() => Promise.all([model.close(), server.close()]))

const snapshotWith = (document: Record<string, unknown> = {}, prompt?: string) =>
  toSnapshot(
    {
      llm: {
        providers: [{ id: "p", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
        model_chain: { default: [{ provider: "p", model: "m" }] },
        retry: { max_attempts: 1 }
      },
      triggers: [{ name: "t", kind: "manual" }],
      prompts: { system: prompt === undefined ? {} : { more: prompt } },
      workspaces: {
        instances: {
          w: {
            source_repo: { trigger: "t", repo: "a/b" },
            context_repositories: [{ alias: "lib", kind: "git", url: `${server.url}/library/.git` }],
            ...(prompt === undefined ? {} : { prompt: { extra_system_prompt: "more" } })
          }
        }
      },
      agent: { default: "native-llm" },
      review: { output_language: "en", verification: "auto" },
      ...document
    },
    {}
  )

const catalog = Catalog.layer.pipe(Layer.provide(layerMemory))
const objectsAt = (root: string) =>
  Layer.provideMerge(Evidence.layer, FileObjects.layerFiles({ root })).pipe(
    Layer.merge(Logger.layer([])),
    Layer.merge(testThreads),
    Layer.merge(catalog)
  )
const live = GatewayLayer.layer.pipe(Layer.provide([Budget.layerMemory, Limiter.layerMemory, catalog]))
const workspaceOf = Effect.fnUntraced(function* (document?: Record<string, unknown>, prompt?: string) {
  const snapshot = yield* snapshotWith(document, prompt)
  const workspace = snapshot.workspaces.get("w")
  return workspace === undefined ? yield* Effect.die("no workspace") : { snapshot, workspace }
})

const recordRun = (root: string, id = "run-1") =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { snapshot, workspace } = yield* workspaceOf()
      const checkout = yield* (yield* Vcs).checkout({
        url: repository.path,
        mirror: "m",
        authorization: undefined,
        head,
        base,
        headRef: undefined,
        baseRef: undefined,
        rules: undefined,
        compare: "merge-base"
      })
      const analysis = yield* reviewOnRecord(
        id,
        {
          snapshot,
          workspace,
          checkout,
          title: "A change",
          description: "Of two files",
          filters: { watchPath: [], include: [], exclude: [] }
        },
        undefined
      ).pipe(Effect.provideService(ModelRun, { id, repository: "r" }))
      return { ...runOf(analysis), id }
    }).pipe(
      Effect.scoped,
      Effect.provide(nativeAgentLayer.pipe(Layer.provideMerge(live), Layer.provideMerge(objectsAt(root)))),
      Effect.provide(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }))
    )
  )
const runOf = (analysis: Analysis): Run => ({
  id: "run-1",
  entryId: "e",
  workspace: "w",
  targetKey: TargetKey.make("t:a/b:pull_request:1"),
  change: {
    provider: "gitea",
    trigger: "t",
    workspace: "w",
    repo: { fullName: "a/b" },
    target: { kind: "pull_request", number: 1 }
  },
  head,
  base,
  status: "succeeded",
  reason: undefined,
  partial: false,
  configHash: "",
  analysis,
  createdAt: 0,
  startedAt: undefined,
  finishedAt: undefined
})

const replayed = (root: string, run: Run, document?: Record<string, unknown>, prompt?: string) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { snapshot, workspace } = yield* workspaceOf(document, prompt)
      const answers = yield* recordedResponses(run.id)
      const replay = yield* replayRun(run, snapshot, workspace).pipe(
        Effect.provide(
          nativeAgentLayer.pipe(
            Layer.provideMerge(Layer.succeed(Gateway, answers.gateway)),
            Layer.merge(Catalog.layerOffline)
          )
        )
      )
      return { replay, requests: answers.compareRequests(), recorded: answers.recorded }
    }).pipe(Effect.provide(objectsAt(root)), owned)
  )

describe("a replay", () => {
  it("finds the same with everything unchanged: no model, no repository, no host", async () => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    expect(run.analysis?.findings).toHaveLength(3)
    const before = model.requests.length
    const fetches = server.requests.length
    const { replay, requests, recorded } = await replayed(root, run)
    expect(replay.difference).toMatchObject({ changed: [], gone: [], added: [] })
    expect(replay.difference.same).toHaveLength(3)
    expect(requests).toEqual({ same: recorded, changed: [], unanswered: 0 })
    expect(recorded).toBe(3)
    expect(replay.missing).toEqual([])
    expect([model.requests.length, server.requests.length]).toEqual([before, fetches])
    expect(replay.analysis.summary).toBe(run.analysis?.summary)
    expect(replay.analysis.coverage).toEqual(run.analysis?.coverage)
    expect(replay.analysis.notices).toEqual(run.analysis?.notices)
  })

  it("shows the effect of other rules on the same responses", async () => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    const { replay, requests } = await replayed(root, run, {
      review: { output_language: "en", verification: "auto", min_severity: "medium" }
    })
    expect(replay.difference.gone.map(({ problem }) => problem.title)).toEqual(["Wrong const b = 2"])
    expect(replay.difference.same).toHaveLength(2)
    expect(requests.changed).toEqual([])
  })

  it("reports the requests that a changed prompt alters, and uses the responses at their position", async () => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    const { replay, requests } = await replayed(root, run, {}, "Look at b alone.")
    expect(requests.unanswered).toBe(0)
    expect(requests.changed[0]).toEqual({
      part: "system prompt",
      before: expect.any(String),
      after: "Look at b alone."
    })
    expect(replay.difference.same).toHaveLength(3)
  })

  it("calls a live model instead, and shows the differences in its findings", async () => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    const found = await Effect.runPromise(
      Effect.gen(function* () {
        const { snapshot, workspace } = yield* workspaceOf({}, "Look at b alone.")
        return yield* replayRun(run, snapshot, workspace)
      }).pipe(
        Effect.provide(nativeAgentLayer.pipe(Layer.provideMerge(GatewayLayer.gatewayLayer))),
        Effect.provide([FileObjects.layerFiles({ root }), testThreads]),
        owned
      )
    )
    expect(found.difference.gone.map(({ problem }) => problem.title)).toEqual(["Wrong const a30 = -1"])
    expect(found.difference.same).toHaveLength(2)
  })

  it("keeps no secret of the repository", async () => {
    const root = temporaryFolder()
    const before = model.requests.length
    await recordRun(root)
    const shown = model.requests.slice(before).map(({ text }) => text)
    expect(shown.join("\n")).toContain('src/use.ts:3 (call) \\"[secret removed]\\" + refund(1)')
    expect(shown.filter((text) => text.includes("hunter2"))).toEqual([])
    const texts = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    expect(texts.length).toBeGreaterThan(4)
    expect(texts.filter((text) => text.includes("hunter2"))).toEqual([])
  })

  it.each([
    ["review.json", "the evidence of run run-1 is not there"],
    ["diff", "the evidence of run run-1 is not there"]
  ])("is refused without its %s", async (name, message) => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    rmSync(join(root, "runs", run.id, name))
    await expect(replayed(root, run)).rejects.toMatchObject({
      _tag: "NotReplayable",
      message: expect.stringContaining(message)
    })
  })

  it("has no result without the responses, and names the next step", async () => {
    const root = temporaryFolder()
    const run = await recordRun(root)
    rmSync(join(root, "runs", run.id, "calls"), { recursive: true })
    await expect(replayed(root, run)).rejects.toMatchObject({
      message: expect.stringContaining("no recorded response to this request; call a model with --model")
    })
  })

  it.each([
    [{ analysis: undefined, status: "failed", reason: verbatimReason("no money") } as const, "is failed (no money)"],
    [{ change: { target: { kind: "issue", number: 1 } } } as const, "is the triage of an issue"]
  ])("of a run that is no finished review is refused: %j", async (overrides, message) => {
    const run = runOf({} as Analysis)
    const other = {
      ...run,
      ...overrides,
      change: { ...run.change, ...("change" in overrides ? overrides.change : {}) }
    }
    await expect(replayed(temporaryFolder(), other)).rejects.toMatchObject({
      message: expect.stringContaining(message)
    })
  })
})

it("a record keeps every line of a text, whatever its blocks", () => {
  const kept = (text: string): string => scrubText(text)
  for (const end of ["", "\n", "\n\n"]) {
    const long = Array.from({ length: 9000 }, (_, at) => `line ${at} ${"x".repeat(at % 40)}`).join("\n") + end
    expect(kept(long)).toBe(long)
  }
  const secret = `ghp_${"a1B2".repeat(9)}`
  expect(kept(`a\n${secret}\nb`)).toBe("a\n[secret removed]\nb")
})

it("a record keeps a diff as it came, whatever its pieces", () => {
  const line = fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("€".repeat(40_000)), fc.constant("\uFEFF"))
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.nat({ max: 70_000 }), { maxLength: 8 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.join("\n"))
        const pieces: Array<Uint8Array> = []
        let at = 0
        for (const cut of cuts) pieces.push(bytes.subarray(at, (at += cut)))
        pieces.push(bytes.subarray(at))
        expect(scrubDiff(pieces)).toBe(bytes.toString())
      }
    )
  )
  const secret = `ghp_${"a1B2".repeat(9)}`
  const pieces = [`a\n${secret.slice(0, 9)}`, secret.slice(9), "\nb"].map((text) => Buffer.from(text))
  expect(scrubDiff(pieces)).toBe("a\n[secret removed]\nb")
})

describe("compareFindings", () => {
  const finding = (fingerprint: string, line: number, more: Record<string, unknown> = {}) => ({
    fingerprint,
    anchor: { path: "a.ts", side: "new" as const, line },
    problem: { file: "a.ts", severity: "low" as const, category: "c", message: "m", ...more }
  })
  it.each([
    ["nothing", [], [], [0, 0, 0, 0]],
    ["the same", [finding("1", 1)], [finding("1", 1)], [1, 0, 0, 0]],
    ["moved", [finding("1", 1)], [finding("1", 9)], [0, 1, 0, 0]],
    ["of another identity at the same place", [finding("1", 1)], [finding("2", 1)], [1, 0, 0, 0]],
    ["another one", [finding("1", 1)], [finding("2", 2)], [0, 0, 1, 1]],
    ["re-worded", [finding("1", 1)], [finding("1", 1, { message: "other" })], [0, 1, 0, 0]]
  ])("%s", (_, before, after, expected) => {
    const { same, changed, gone, added } = compareFindings(before, after)
    expect([same.length, changed.length, gone.length, added.length]).toEqual(expected)
  })
})
