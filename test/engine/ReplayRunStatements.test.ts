/**
 * Recorded reviews of random changes by a random model, each replayed from its record: the statement is the same, byte by byte. Some have
 * lines with secrets, rules, several passes, skipped files, findings for maintainers only, and models that fail.
 */
import { createHash } from "node:crypto"
import { Effect, Layer, Logger } from "effect"
import { expect, it } from "vitest"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { namedReaders } from "../../src/domain/CarriedReview.ts"
import type { Change } from "../../src/domain/Change.ts"
import { replayReads, replayRun } from "../../src/engine/ReplayRun.ts"
import type { ReviewRecord } from "../../src/engine/record/ReviewRecord.ts"
import { reviewOnRecord } from "../../src/engine/ReviewOnRecord.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { Evidence } from "../../src/llm/Evidence.ts"
import { Gateway, GatewayError } from "../../src/llm/Gateway.ts"
import type { GatewayRequest, ToolCall } from "../../src/llm/Gateway.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { recordedResponses } from "../../src/llm/RecordedGateway.ts"
import { buildStatement } from "../../src/domain/BuildStatement.ts"
import { Objects } from "../../src/store/Objects.ts"
import type { Run } from "../../src/store/Runs.ts"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"
import { testThreads } from "../harness/Threads.ts"

const replays = Number(process.env["AICR_TEST_REPLAYS"] ?? 50)

/** Returns a number below `below` that depends on the parts only. */
const pick = (below: number, ...parts: ReadonlyArray<string | number>): number =>
  createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32BE() % below

const commit = (name: string): string => createHash("sha1").update(name).digest("hex")
const lineOf = (seed: number, file: number, line: number): string =>
  pick(40, seed, file, line) === 0
    ? `const password = "hunter2-is-${seed}-${line}"`
    : `export const value${file}x${line} = compute(${pick(1000, seed, file, line, "value")})`

interface GeneratedChange {
  readonly record: ReviewRecord
  readonly diff: string
}

/** Returns a change of some files with some added lines each, and what else the review may read. */
const generate = (seed: number): GeneratedChange => {
  const files = Array.from({ length: 1 + pick(4, seed, "files") }, (_file, file) => {
    const path = pick(6, seed, file, "path") === 0 ? `vendor/m${file}.ts` : `src/m${file}.ts`
    const old = [`// module ${file}`, "export {}", "// end"]
    const added = Array.from({ length: 1 + pick(12, seed, file, "lines") }, (_, line) => lineOf(seed, file, line))
    const fresh = [...old.slice(0, 2), ...added, ...old.slice(2)]
    const diff = [
      `diff --git a/${path} b/${path}`,
      `index ${commit(`${seed} ${file} old`)}..${commit(`${seed} ${file} new`)} 100644`,
      `--- a/${path}`,
      `+++ b/${path}`,
      `@@ -1,3 +1,${fresh.length} @@`,
      ...old.slice(0, 2).map((line) => ` ${line}`),
      ...added.map((line) => `+${line}`),
      ` ${old[2] ?? ""}`
    ]
    return { path, diff: `${diff.join("\n")}\n`, old: `${old.join("\n")}\n`, fresh: `${fresh.join("\n")}\n` }
  })
  const rules = [
    ...(pick(2, seed, "agents") === 0 ? [{ key: "rules:AGENTS.md", text: `Be strict about ${seed}.\n` }] : []),
    ...(pick(3, seed, "secret rule") === 0
      ? [{ key: "rules:CLAUDE.md", text: `Never use\npassword = "hunter2-of-the-rules-${seed}"\n` }]
      : []),
    ...(pick(3, seed, "ignored") === 0 ? [{ key: "rules:.aicrignore", text: "vendor/\n" }] : [])
  ]
  const record: ReviewRecord = {
    version: 1,
    head: commit(`head ${seed}`),
    from: commit(`from ${seed}`),
    title: `Change ${seed}`,
    description: "",
    filters: { watchPath: [], include: [], exclude: [] },
    changes: files.map(({ fresh, path }) => ({
      path,
      status: "modified",
      oldMode: "100644",
      newMode: "100644",
      size: fresh.length
    })),
    files: [
      ...rules,
      ...files.flatMap(({ fresh, old, path }) => [
        { key: `head:${path}`, text: fresh },
        { key: `from:${path}`, text: old }
      ])
    ],
    lists: [{ key: "rules:.aicr", names: [] }],
    blames: [],
    messages: [],
    context: { notices: [], mounted: [] },
    cut: false
  }
  return { record, diff: files.map(({ diff }) => diff).join("") }
}

const reportOf = (seed: number, quote: string, path: string, at: number): ToolCall => ({
  id: `r${at}`,
  name: "report_problem",
  input: {
    file: path,
    severity: ["info", "low", "medium", "high", "critical"][pick(5, seed, quote, "severity")],
    category: "correctness",
    title: `Wrong value ${pick(100, seed, quote)}`,
    message: "It is wrong.",
    quote
  }
})

/** Reports some of the lines that the prompt shows, refutes or confirms what it verifies, and fails sometimes. */
const reply = (seed: number, request: GatewayRequest): ReadonlyArray<ToolCall> | undefined => {
  const text = JSON.stringify(request.messages)
  const numbers = [...text.matchAll(/\\"number\\\\?": ?(\d+)/g)].map(([, number]) => Number(number))
  if (/Check the (?:finding|\d+ findings) below/.test(text)) {
    if (pick(12, seed, "verification fails") === 0) return undefined
    const verdicts = numbers.map((number) => ({
      number,
      verdict: pick(3, seed, text.length, number) === 0 ? "refute" : "confirm",
      reason: "the code shows it"
    }))
    return [{ id: "v", name: "verdicts", input: { verdicts } }]
  }
  const shown = [...new Set([...text.matchAll(/export const value(\d+)x\d+ = compute\(\d+\)/g)].map(([line]) => line))]
  const paths = [...new Set([...text.matchAll(/(?:src|vendor)\/m(\d+)\.ts/g)].map(([path]) => path))]
  const reports = shown
    .filter((line) => pick(3, seed, line, "reported") === 0)
    .flatMap((line, at) => {
      const path = paths.find((one) => one.endsWith(`m${/value(\d+)x/.exec(line)?.[1]}.ts`))
      return path === undefined ? [] : [reportOf(seed, line, path, at)]
    })
  return [...reports, { id: "s", name: "publish_summary", input: { markdown: `Summary ${seed}.` } }]
}

const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

/** A gateway with this model, whose calls are recorded as those of the service are. */
const scripted = (seed: number) =>
  Layer.effect(
    Gateway,
    Effect.map(Evidence, (evidence) =>
      Gateway.of({
        call: Effect.fnUntraced(function* (request) {
          const run = yield* ModelRun
          const calls = reply(seed, request)
          const call = { run, model: `p/m${seed % 3}`, at: 0, millis: 1, request } as const
          if (calls === undefined) {
            const why = { _tag: "NoRecordedResponse" } as const
            yield* evidence.record({ ...call, outcome: { _tag: "Failed", kind: "invalid", why } })
            return yield* new GatewayError({ reason: "invalid", why })
          }
          const response = { text: "", calls, usage, native: undefined }
          yield* evidence.record({ ...call, outcome: { _tag: "Responded", response } })
          return { ...response, model: call.model, fallbacks: [] }
        })
      })
    )
  )

const configuration = (seed: number) => ({
  llm: {
    providers: [{ id: "p", kind: "openai_compatible", base_url: "http://model.test/v1", api_key: "k" }],
    model_chain: { default: [{ provider: "p", model: "m" }] }
  },
  triggers: [{ name: "t", kind: "manual" }],
  workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } },
  agent: { default: "native-llm" },
  review: {
    output_language: "en",
    verification: pick(2, seed, "verification") === 0 ? "always" : "auto",
    min_severity: pick(2, seed, "severity") === 0 ? "low" : "info",
    status_fail_on: "high",
    max_files: 1 + pick(5, seed, "max files"),
    unread: (["neutral", "fail", "ignore"] as const)[pick(3, seed, "unread")],
    ...(pick(3, seed, "private") === 0
      ? { private: { channel: "ops", severity: "high", categories: ["correctness"] } }
      : {})
  },
  outputs: { channels: [{ name: "ops", kind: "feishu_bot", webhook_url: "https://chat.test/hook" }] },
  compression: pick(3, seed, "passes") === 0 ? { trigger_tokens: 3000 } : {}
})

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "a/b" },
  target: { kind: "pull_request", number: 1 }
}

/** The analysis of an earlier review, of which the next one reads every second file again. */
const withReader = (analysis: Analysis): Analysis =>
  namedReaders({
    run: "earlier",
    head: commit("earlier"),
    configuration: "2".repeat(64),
    statement: "3".repeat(64),
    analysis: { ...analysis, patches: analysis.patches?.filter((_, at) => at % 2 === 0) }
  })

/** Reviews on record, then replays, and returns both statements. `alter` changes the record between. */
const reviewTwice = (seed: number, alter = (text: string) => text) =>
  Effect.gen(function* () {
    const snapshot = yield* toSnapshot(configuration(seed), {})
    const workspace = snapshot.workspaces.get("w") ?? expect.fail("no workspace")
    const { diff, record } = generate(seed)
    const id = `run-${seed}`
    const fenceKey = `fence ${seed}`
    const review = (as: string, previous: Analysis | undefined) =>
      reviewOnRecord(
        as,
        {
          snapshot,
          workspace,
          checkout: replayReads(record, diff).checkout,
          title: record.title,
          description: record.description,
          filters: record.filters,
          ...(previous === undefined ? {} : { previous })
        },
        undefined
      ).pipe(
        Effect.scoped,
        Effect.provide(nativeAgentLayer.pipe(Layer.provideMerge(scripted(seed)), Layer.merge(Catalog.layerOffline))),
        Effect.provideService(ModelRun, { id: as, repository: "r", fenceKey })
      )
    const analysis = yield* review(
      id,
      pick(4, seed, "earlier") === 0 ? withReader(yield* review("earlier", undefined)) : undefined
    )
    const dismissed = analysis.findings.slice(0, pick(2, seed, "dismissed")).map(({ fingerprint }) => fingerprint)
    const run: Run = {
      id,
      entryId: "e",
      workspace: "w",
      targetKey: targetKey(change),
      change,
      head: record.head,
      base: commit(`base ${seed}`),
      status: "succeeded",
      reason: undefined,
      partial: false,
      configHash: snapshot.hash,
      analysis: { ...analysis, dismissed },
      createdAt: 1_700_000_000_000,
      startedAt: undefined,
      finishedAt: undefined
    }
    const { base, configHash, head } = run
    const stated = { runId: id, change, head, base, configHash, analysis: { ...analysis, dismissed } }
    const recorded = buildStatement({ ...stated, review: workspace.review }, new Date(run.createdAt).toISOString())
    const objects = yield* Objects
    const name = `runs/${id}/review.json`
    yield* objects.put(name, alter((yield* objects.get(name, 1_000_000)) ?? ""))
    const responses = yield* recordedResponses(id)
    const replay = yield* replayRun(run, snapshot, workspace).pipe(
      Effect.provide(
        nativeAgentLayer.pipe(
          Layer.provideMerge(Layer.succeed(Gateway, responses.gateway)),
          Layer.merge(Catalog.layerOffline)
        )
      ),
      Effect.provideService(ModelRun, { id: `replay:${id}`, repository: "replay", fenceKey })
    )
    return { analysis, recorded, replay }
  }).pipe(
    Effect.provide(Layer.provideMerge(Evidence.layer, Layer.fresh(memoryObjects))),
    Effect.provide([testThreads, Logger.layer([]), Layer.mock(ContextRepositories, {})])
  )

it(`${replays} recorded reviews give the same statement again, byte by byte`, { timeout: 600_000 }, async () => {
  let findings = 0
  let digests = 0
  let carried = 0
  for (let seed = 0; seed < replays; seed++) {
    const { analysis, recorded = "", replay } = await Effect.runPromise(reviewTwice(seed))
    expect({ seed, differences: replay.statement?.differences, missing: replay.missing }).toEqual({
      seed,
      differences: [],
      missing: []
    })
    expect(replay.statement?.text).toBe(recorded)
    findings += analysis.findings.length
    digests += analysis.private?.length ?? 0
    carried += analysis.carried?.length ?? 0
  }
  expect(carried).toBeGreaterThan(replays / 20)
  expect(findings).toBeGreaterThan(replays / 2)
  expect(digests).toBeGreaterThan(replays / 10)
})

it("a changed record gives another statement, whose differences are named", async () => {
  const { replay } = await Effect.runPromise(reviewTwice(1, (text) => text.replace("Change 1", "Change 2")))
  expect(replay.statement?.differences).toEqual(["predicate.inputs.prompts.sha256"])
})
