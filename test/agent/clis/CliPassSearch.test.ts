/** The web search of a pass with a hostile program in place of the CLI: in a real sandbox, through the real tool server. */
import { it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import { expect } from "vitest"
import { AgentPrograms } from "../../../src/agent/clis/AgentPrograms.ts"
import { CliAgents } from "../../../src/agent/clis/CliAgents.ts"
import { toolServersLayer } from "../../../src/agent/mcp/ToolServersLayer.ts"
import { webSearchLayer } from "../../../src/agent/search/WebSearchLayer.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { RunLogBuffer } from "../../../src/observability/logs/RunLogBuffer.ts"
import { scrubSecrets } from "../../../src/review/Secrets.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { startFakeSearch } from "../../harness/FakeSearch.ts"
import type { FakeSearch } from "../../harness/FakeSearch.ts"
import { fakeProxies } from "./FakeServices.ts"
import { makeBrief, nativeSandboxes, temporary } from "./Fixture.ts"

const programs = Layer.succeed(
  AgentPrograms,
  AgentPrograms.of({
    folder: "/nowhere",
    version: () => Effect.undefined,
    find: () =>
      Effect.succeed({
        mode: "omp",
        version: "18.2.3",
        isTested: true,
        command: ["node", join(import.meta.dirname, "SearchingAgent.mjs")],
        packages: import.meta.dirname,
        installation: [import.meta.dirname]
      })
  })
)

const secret = "searx-secret-0123456789"

const fakeSearch = Effect.acquireRelease(
  Effect.promise(() =>
    startFakeSearch(() => ({
      body: { results: [{ title: "Found", url: "https://found.example/", content: "a result" }] }
    }))
  ),
  (search) => Effect.promise(() => search.close())
)

/** `ends`: whether the agent ends the review, or exits without a result. */
const pass = ({ dispatcher, url }: FakeSearch, run: ModelAccount, ends: boolean) =>
  Effect.gen(function* () {
    const web_search = {
      enabled: true,
      providers: ["searxng"],
      credentials: { searxng: "SEARX" },
      searxng: { endpoint: url },
      max_queries: 5
    }
    const brief = yield* makeBrief("omp", { web_search }, { env: { SEARX: secret } })
    const root = yield* temporary
    const searxng = `https://127.0.0.1:${new URL(url).port}`
    const prompt = JSON.stringify({ ends, searxng, secret: Buffer.from(secret).toString("base64") })
    const layer = CliAgents.layer.pipe(
      Layer.provide([
        programs,
        nativeSandboxes(root),
        toolServersLayer(join(root, "tools")),
        webSearchLayer(scrubSecrets, dispatcher),
        fakeProxies("http://127.0.0.1:9", { calls: 1 })
      ])
    )
    const report = yield* CliAgents.use((agents) =>
      agents.analyse("omp", { ...brief, common: undefined, prompt })
    ).pipe(Effect.provide(layer), Effect.provideService(ModelRun, run), Effect.annotateLogs("run_id", run.id))
    return Object.fromEntries(
      report.problems.map(({ message }) => [message.split(": ", 1)[0], message.slice(message.indexOf(": ") + 2)])
    )
  })

const limit = "error: not accepted. the limit of 5 searches of this review is reached"

it.live(
  "a hostile agent gets results only, finds no credential, and every query of it is counted and in the log of its run",
  () =>
    Effect.gen(function* () {
      const search = yield* fakeSearch
      const { requests } = search
      const log = new RunLogBuffer()
      const run = { id: "run-1", repository: "test" }
      const attempts = yield* pass(search, run, true).pipe(Effect.provide(Logger.layer([log.logger])))
      expect(attempts["found"]).toContain("https://found.example/")
      expect(attempts).toMatchObject({
        page: expect.stringMatching(/web_fetch/),
        long: expect.stringContaining("a query has at most 400 characters"),
        lines: expect.stringContaining("one line"),
        direct: "failed: ECONNREFUSED",
        exa: expect.stringMatching(/^failed: (EAI_AGAIN|ENOTFOUND)/),
        held: "false",
        many: limit
      })
      const sent = requests.map(({ query }) => query["q"])
      expect(sent.toSorted()).toEqual(["list index", "other server", "part 0", "part 1", "part 2"])
      for (const { headers, path, query } of requests) {
        expect([path, Object.keys(query).toSorted()]).toEqual(["/search", ["format", "q"]])
        expect(headers["authorization"]).toBe(`Bearer ${secret}`)
      }
      const lines = log.take(0).flatMap(({ lines: all, runId }) => (runId === run.id ? all : []))
      const searches = lines.filter(({ message }) => message === "web search")
      const fields = searches.map(({ fields: { provider, query, status } }) => [provider, query, status])
      expect(fields.toSorted()).toEqual(sent.toSorted().map((query) => ["searxng", query, "ok"]))
      expect(JSON.stringify(lines)).not.toContain(secret)
    }).pipe(Effect.scoped, Effect.provide(Store.layerMemory)),
  60_000
)

it.live(
  "another attempt at the review has the queries that are left of the limit",
  () =>
    Effect.gen(function* () {
      const search = yield* fakeSearch
      yield* pass(search, { id: "run-1", repository: "test" }, false)
      expect(search.requests).toHaveLength(5)
      const again = { id: "run-2", repository: "test", resumes: { attempt: 2, earlier: ["run-1"] } }
      yield* pass(search, again, false)
      expect(search.requests).toHaveLength(5)
    }).pipe(Effect.scoped, Effect.provide(Store.layerMemory)),
  60_000
)
