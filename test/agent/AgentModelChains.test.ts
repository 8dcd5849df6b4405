/**
 * The model that each kind of call uses, from the document to the request that a model's server receives: reviews, triage of
 * issues and the search for a commit's author, with each layer that names a group of models.
 */
import { Effect, Layer, Logger } from "effect"
import type { Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { OutputsConfig } from "../../src/config/schema/Outputs.ts"
import type { Snapshot, Workspace } from "../../src/config/Snapshot.ts"
import type { Change } from "../../src/domain/Change.ts"
import * as GuessAuthor from "../../src/engine/questions/GuessAuthor.ts"
import { reviewChange } from "../../src/engine/ReviewChange.ts"
import { triageIssue } from "../../src/engine/Triage.ts"
import type { TriageIssue } from "../../src/engine/Triage.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { resolveAuthor } from "../../src/outputs/channels/Author.ts"
import { Cache } from "../../src/store/Cache.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { testForges } from "../harness/ActorParts.ts"
import { review, startFakeModel, verdictsOn } from "../harness/FakeModel.ts"
import type { FakeModel, Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { testOwners } from "../harness/Owners.ts"
import { testThreads } from "../harness/Threads.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"

/** Each group has one provider of its own, whose server has the name of the group. */
const groups = ["default", "global", "shared", "own"] as const
let servers: ReadonlyArray<readonly [string, FakeModel]> = []
beforeAll(async () => {
  servers = await Promise.all(groups.map(async (name) => [name, await startFakeModel(reply)] as const))
})
afterAll(() => Promise.all(servers.map(([, server]) => server.close())))

const reply = ({ text }: Recorded): Reply => {
  const call = (name: string, input: object): Reply => ({ calls: [{ name, input }] })
  if (text.includes('"name":"triage"'))
    return call("triage", { verdict: "keep_open", category: "bug", reason: "it names a crash", confidence: 1 })
  if (text.includes('"name":"author"')) return call("author", { account: "jdoe", confidence: 1 })
  const found = { file: "a.ts", severity: "high", category: "correctness", message: "b is wrong" }
  return verdictsOn(text) ?? review([{ ...found, quote: "export const b = 2" }])
}

interface Chains {
  readonly llm?: object
  readonly defaults?: object
  readonly instance?: object
}

/** The work that is executed under a document with these chains. */
type Work = (snapshot: Snapshot, workspace: Workspace) => Effect.Effect<unknown, unknown, Services>
const services = Layer.mergeAll(
  GuessAuthor.layer.pipe(Layer.provideMerge(Layer.merge(gatewayLayer, Cache.layerNone))),
  nativeAgentLayer.pipe(Layer.provide(gatewayLayer)),
  layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }),
  Logger.layer([]),
  testThreads
).pipe(Layer.provideMerge(testOwners))
type Services = Layer.Success<typeof services> | Scope.Scope

/** The servers that were called, with how often. */
const called = async (work: Work, { llm = {}, defaults = {}, instance = {} }: Chains) => {
  const before = servers.map(([, { requests }]) => requests.length)
  await Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        agent: { default: "native-llm" },
        triggers: [{ name: "t", kind: "gitea", base_url: "https://git.example" }],
        llm: {
          providers: servers.map(([id, { url }]) => ({ id, kind: "openai_compatible", base_url: `${url}/v1` })),
          model_chain: Object.fromEntries(groups.map((name) => [name, [{ provider: name, model: "m" }]])),
          ...llm
        },
        outputs: { author_resolution: { email_mappings: { "jane.doe@corp.test": "jdoe" } } },
        workspaces: {
          defaults,
          instances: { w: { source_repo: { trigger: "t", repo: "team/app" }, triage: { enabled: true }, ...instance } }
        }
      },
      {}
    )
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    yield* work(snapshot, workspace)
  }).pipe(Effect.scoped, Effect.provide(services), Effect.runPromise)
  return Object.fromEntries(
    servers.flatMap(([name, { requests }], at) => {
      const count = requests.length - (before[at] ?? 0)
      return count === 0 ? [] : [[name, count]]
    })
  )
}

const repository = makeRepository()
repository.write("a.ts", "export const a = 1\n")
const base = repository.commit()
repository.write("a.ts", "export const a = 1\nexport const b = 2\n")
const head = repository.commit()

/** Finds one serious problem, which is verified: two calls. */
const reviewed: Work = Effect.fnUntraced(function* (snapshot, workspace) {
  const vcs = yield* Vcs
  const checkout = yield* vcs.checkout({
    url: repository.path,
    mirror: "chains",
    authorization: undefined,
    head,
    base,
    headRef: undefined,
    baseRef: undefined,
    rules: undefined,
    compare: "merge-base"
  })
  const filters = { watchPath: [], include: [], exclude: [] }
  const { findings } = yield* reviewChange({ snapshot, workspace, checkout, title: "b", description: "", filters })
  expect(findings).toHaveLength(1)
})

const triaged: Work = Effect.fnUntraced(function* (snapshot, workspace) {
  const issue: TriageIssue = { title: "It crashes", body: "An empty file crashes it.", labels: [], state: "open" }
  expect((yield* triageIssue(snapshot, workspace, issue)).decision.category).toBe("bug")
})

const authored: Work = Effect.fnUntraced(function* (_, workspace) {
  const change: Change = {
    provider: "gitea",
    trigger: "t",
    workspace: "w",
    repo: { fullName: "team/app" },
    target: { kind: "pull_request", number: 1 },
    author: { username: "pusher" }
  }
  const client = {
    ...testForges(Effect.die("none")).client(Object.create(null)),
    commitAuthor: () => Effect.succeed({ name: "Doe, Jane", email: "jane@home.test", account: undefined })
  }
  const [channel] = resolve(OutputsConfig, { channels: [{ name: "c", kind: "gitea_pr_review" }] }).channels
  if (channel === undefined) throw new Error("no channel")
  const cache = yield* Cache
  expect(yield* resolveAuthor({ client: Effect.succeed(client), change, workspace, channel, cache }, head)).toBe("jdoe")
})

describe("a review", () => {
  it.each<readonly [string, Chains, string]>([
    ["no layer names a group", {}, "default"],
    ["llm.default_model_chain", { llm: { default_model_chain: "global" } }, "global"],
    ["workspaces.defaults", { llm: { default_model_chain: "global" }, defaults: { model_chain: "shared" } }, "shared"],
    ["the instance", { defaults: { model_chain: "shared" }, instance: { model_chain: "own" } }, "own"]
  ])("calls the models of the group that is named by: %s", async (_, chains, expected) => {
    expect(await called(reviewed, chains)).toEqual({ [expected]: 2 })
  })
})

describe("triage of an issue", () => {
  it.each<readonly [string, Chains, string]>([
    ["no layer names a group", {}, "default"],
    ["the main group of the workspace", { instance: { model_chain: "own" } }, "own"],
    ["llm.triage_model_chain", { llm: { triage_model_chain: "global" }, instance: { model_chain: "own" } }, "global"],
    [
      "workspaces.defaults",
      { llm: { triage_model_chain: "global" }, defaults: { triage_model_chain: "shared" } },
      "shared"
    ],
    ["the instance", { defaults: { triage_model_chain: "shared" }, instance: { triage_model_chain: "own" } }, "own"]
  ])("calls the models of the group that is named by: %s", async (_, chains, expected) => {
    expect(await called(triaged, chains)).toEqual({ [expected]: 1 })
  })
})

describe("the search for a commit's author", () => {
  const name = "author_resolution_model_chain"
  it.each<readonly [string, Chains, string]>([
    ["no layer names a group", { instance: { model_chain: "own" } }, "default"],
    ["llm.author_resolution_model_chain", { llm: { [name]: "global" } }, "global"],
    ["workspaces.defaults", { llm: { [name]: "global" }, defaults: { [name]: "shared" } }, "shared"],
    ["the instance", { defaults: { [name]: "shared" }, instance: { [name]: "own" } }, "own"]
  ])("calls the models of the group that is named by: %s", async (_, chains, expected) => {
    expect(await called(authored, chains)).toEqual({ [expected]: 1 })
  })
})
