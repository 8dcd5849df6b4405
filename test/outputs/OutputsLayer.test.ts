/** Rows for an analysis, and each row sent with the credentials and to the repository that its channel names. */
import { createServer } from "node:http"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { ChannelMissing, Outputs } from "../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../src/outputs/OutputsLayer.ts"
import { templateFileProblems } from "../../src/outputs/text/TemplateFiles.ts"
import { Cache } from "../../src/store/Cache.ts"
import { layerMemory } from "../../src/store/cache/MemoryCache.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../src/llm/ModelRun.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { repoName, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { analysis, change, finding, input, workspace } from "./Fixtures.ts"
import { owned, uncounted } from "../harness/Owners.ts"
import { inSnapshot } from "./InSnapshot.ts"
import { inEnglish } from "../../src/text/en.ts"
import { triggerDefaults } from "../harness/TriggerDefaults.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"

const outputsWith = (
  profiles: ReadonlyArray<TriggerProfile>,
  env: Readonly<Record<string, string>> = {},
  workspacesRoot = "/nowhere",
  also: Layer.Layer<Cache> = Cache.layerNone,
  guess: Layer.Layer<AuthorGuess> = AuthorGuess.layerNone
): Outputs["Service"] => {
  const triggers = new Map(profiles.map((profile) => [profile.name, profile]))
  const snapshot = { ...testSnapshot({}, env), triggers, workspacesRoot }
  const layer = Layer.provide(OutputsLayer.layer, [
    layerStatic(snapshot),
    Forges.layer,
    also,
    guess,
    uncounted,
    memoryObjects
  ])
  return inSnapshot(Context.get(Effect.runSync(Effect.scoped(Layer.build(layer))), Outputs), snapshot)
}

const routes = (name: string) => ({ default: { line_comments: [name], summary: [name] } })

describe("outputs", () => {
  let host: Host
  beforeAll(async () => {
    host = await startHost("gitea")
    await host.forge.createRepository("team/mirror")
    await host.forge.push("team/mirror", { branch: "main", message: "start", files: { "a.txt": "1\n" } })
    await host.forge.push("team/mirror", { branch: "feature", from: "main", message: "x", files: { "a.txt": "2\n" } })
    await host.forge.createPull("team/mirror", { title: "mirrored", headBranch: "feature" })
  })
  afterAll(async () => {
    await host.forge.stop()
  })

  const summaryRow = (service: Outputs["Service"], space: ReturnType<typeof workspace>, given: Change = change) => {
    const rows = service.plan(input([finding(1)], { workspace: space, change: given, head: host.pull.head }))
    const [row] = rows
    if (row === undefined) throw new Error("nothing planned")
    return row
  }
  const send = (service: Outputs["Service"], space: ReturnType<typeof workspace>) =>
    Effect.runPromise(owned(Effect.result(service.send(space, change, summaryRow(service, space), undefined))))

  it("plans rows in order, ready for the outbox", () => {
    const service = outputsWith([host.forge.profile()])
    const rows = service.plan(input([finding(1), finding(2)]))
    expect(
      rows.map(({ operation, channel, status, attempts, position }) => [
        operation._tag,
        channel,
        status,
        attempts,
        position
      ])
    ).toEqual([
      ["Summary", "gitea_pr_review", "pending", 0, 0],
      ["Review", "gitea_pr_review", "pending", 0, 1],
      ["Threads", "gitea_pr_review", "pending", 0, 2]
    ])
    expect(new Set(rows.map(({ id }) => id)).size).toBe(3)
  })

  it("sending needs neither the guesser of authors nor the cache of responses", async () => {
    const asked: Array<string> = []
    const guessing = Layer.succeed(AuthorGuess, {
      guess: ({ commit }) => Effect.sync(() => (asked.push(commit), "guessed"))
    })
    const kept = Layer.fresh(layerMemory({ ttlMillis: 60_000 }))
    const service = outputsWith([host.forge.profile()], {}, "/nowhere", kept, guessing)
    const space = workspace({
      author_resolution: { email_mappings: { "someone@corp.test": "guessed" } },
      channels: [{ name: "gitea_pr_review", kind: "gitea_pr_review", mention_author: true }]
    })
    const commits = () => host.forge.requests.filter(({ path }) => path.includes("/git/commits/")).length
    const before = commits()
    for (const _ of [1, 2]) await send(service, space)
    expect(host.pull.comments.at(-1)?.body).toContain("@guessed")
    expect([asked.length, commits() - before]).toEqual([1, 1])
    host.pull.comments.splice(0)
  })

  it("a model that guesses an author is charged to the run that is published, also while its row is looked up", async () => {
    const charged: Array<ModelAccount> = []
    const guessing = Layer.succeed(AuthorGuess, {
      guess: () =>
        Effect.gen(function* () {
          charged.push(yield* ModelRun)
          return undefined
        })
    })
    const service = outputsWith(
      [host.forge.profile()],
      { HOOK: `${host.forge.url}/hook` },
      "/nowhere",
      Cache.layerNone,
      guessing
    )
    const channels = [{ name: "chat", kind: "feishu_bot", mention_author: true, webhook_url_env: "HOOK" }] as const
    const space = workspace({
      author_resolution: { email_mappings: { "someone@corp.test": "guessed" } },
      channels,
      routes: routes("chat")
    })
    const [row] = service.plan(input([finding(1)], { workspace: space, head: host.pull.head, runId: "run-7" }))
    if (row === undefined) throw new Error("nothing planned")
    await Effect.runPromise(Effect.result(owned(service.send(space, change, row, undefined))))
    await Effect.runPromise(service.find(space, change, row))
    const account = { id: "run-7", repository: `${change.trigger}:${change.repo.fullName}` }
    expect(charged).toEqual([account, account])
  })

  it.each<readonly [string, Partial<Change>, boolean]>([
    ["a pull request", {}, true],
    ["a push", { target: { kind: "push", branch: "main" } }, false],
    ["an issue", { target: { kind: "issue", number: 4 } }, false],
    ["a changelist", { provider: "perforce" }, false]
  ])("returns whether anything would be visible for %s", (_, own, any) => {
    const service = outputsWith([host.forge.profile()])
    const given = { ...change, ...own }
    expect(service.anyFor(workspace(), given)).toBe(any)
    expect(service.plan(input([finding(1)], { change: given })).length > 0).toBe(any)
    expect(service.status(input([], { change: given }), "pending", verbatimReason("d")).length > 0).toBe(any)
  })

  it("has no status where status_check is off, and one per run and state", () => {
    const service = outputsWith([host.forge.profile()])
    expect(
      service.status(input([], { workspace: workspace({}, { status_check: false }) }), "pending", verbatimReason("d"))
    ).toEqual([])
    const id = (runId: string, state: "pending" | "success") =>
      service.status(input([], { runId }), state, verbatimReason("d")).map(({ operationId }) => operationId)[0]
    expect(id("r1", "pending")).toBe(id("r1", "pending"))
    expect(new Set([id("r1", "pending"), id("r1", "success"), id("r2", "pending")]).size).toBe(3)
  })

  it("puts labels on when a review starts and when it is complete, once per run", async () => {
    const service = outputsWith([host.forge.profile()])
    const space = workspace({}, { output_language: "en", labels: { auto_tag: "in review", reviewed_tag: "reviewed" } })
    const given = input([], { workspace: space, head: host.pull.head })
    const begun = service.status(given, "pending", verbatimReason("d"))
    const ended = service.plan(given)
    expect(begun.map(({ operation }) => operation._tag)).toEqual(["Status", "Label"])
    expect(service.status(given, "success", verbatimReason("d")).map(({ operation }) => operation._tag)).toEqual([
      "Status"
    ])
    expect(ended.at(-1)?.operation).toEqual({ _tag: "Label", name: "reviewed" })
    for (const row of [...begun, ...ended, ...ended].filter(({ operation }) => operation._tag === "Label")) {
      await Effect.runPromise(owned(service.send(space, change, row, undefined)))
    }
    expect(host.forge.pull(repoName, 1).labels.map(({ name }) => name)).toEqual(["bug", "in review", "reviewed"])
    host.forge.expectContract()
  })

  it("takes templates in their order: named, the workspace's file, built-in", async () => {
    const root = await mkdtemp(join(tmpdir(), "aicr-templates-"))
    const service = outputsWith([host.forge.profile()], {}, root)
    const folder = join(root, "test", "templates")
    await mkdir(folder, { recursive: true })
    const named = [{ name: "gitea_pr_review", kind: "gitea_pr_review", templates: { summary: "own" } }] as const
    const bodyOf = (space: ReturnType<typeof workspace>) => {
      const [row] = service.plan(input([], { workspace: space }))
      return row?.operation._tag === "Summary" ? row.operation.body : ""
    }
    expect(bodyOf(workspace())).toContain("## Code review")
    await writeFile(
      join(folder, "gitea_pr_review.summary.md.hbs"),
      "---\na: b\n---\nof the workspace {{target.number}}"
    )
    expect(bodyOf(workspace())).toMatch(/^of the workspace 1\n/)
    expect(bodyOf(workspace({ templates: { own: "named" }, channels: named }))).toMatch(/^named\n/)
    await writeFile(join(folder, "gitea_pr_review.summary.md.hbs"), "{{#if}}")
    expect(bodyOf(workspace())).toContain("template gitea_pr_review.summary.md.hbs: ")
    await rm(root, { recursive: true })
  })

  it("hands on the rows that follow from a row", async () => {
    const service = outputsWith([host.forge.profile()])
    const channels = [{ name: "issues", kind: "gitea_problem_issue" }] as const
    const space = workspace({ channels, routes: { default: { summary: ["issues"] } } })
    const push: Change = { ...change, target: { kind: "push", branch: "main" } }
    expect(service.anyFor(space, push)).toBe(true)
    const [row] = service.plan(input([finding(1)], { workspace: space, change: push }))
    if (row === undefined) throw new Error("nothing planned")
    const { next } = await Effect.runPromise(owned(service.send(space, push, row, undefined)))
    expect(next.map(({ operation, channel, runId, position }) => [operation._tag, channel, runId, position])).toEqual([
      ["Issue", "issues", row.runId, row.position]
    ])
  })

  it("sends with the trigger's credentials", async () => {
    const service = outputsWith([host.forge.profile()])
    expect(await send(service, workspace())).toMatchObject({ _tag: "Success" })
    const [status] = service.status(input([], { head: host.pull.head }), "success", verbatimReason("done"))
    if (status === undefined) throw new Error("no status")
    await Effect.runPromise(owned(service.send(workspace(), change, status, undefined)))
    expect(host.forge.repository(repoName).statuses.get(host.pull.head)).toMatchObject([{ description: "done" }])
  })

  it("uses the configuration of the workspace, whatever is in force by now", async () => {
    const admitted = {
      ...testSnapshot({}),
      triggers: new Map([["host", host.forge.profile()]])
    }
    expect(await send(outputsWith([]), workspace())).toMatchObject({ failure: { _tag: "ChannelMissing" } })
    const layer = Layer.provide(OutputsLayer.layer, [
      layerStatic(testSnapshot({})),
      Forges.layer,
      Cache.layerNone,
      memoryObjects,
      AuthorGuess.layerNone,
      uncounted
    ])
    const outputs = Context.get(Effect.runSync(Effect.scoped(Layer.build(layer))), Outputs)
    expect(await send(inSnapshot(outputs, admitted), workspace())).toMatchObject({ _tag: "Success" })
  })

  it("sends with the credential in force what the host refuses with the admitted one", async () => {
    const wrong = { ...host.forge.profile(), token: Redacted.make("revoked") }
    const admitted = { ...testSnapshot({}), triggers: new Map([["host", wrong]]) }
    const current = { ...testSnapshot({}), triggers: new Map([["renamed", host.forge.profile("renamed")]]) }
    const layer = Layer.provide(OutputsLayer.layer, [
      layerStatic(current),
      Forges.layer,
      Cache.layerNone,
      memoryObjects,
      AuthorGuess.layerNone,
      uncounted
    ])
    const service = inSnapshot(Context.get(Effect.runSync(Effect.scoped(Layer.build(layer))), Outputs), admitted)
    const before = host.pull.comments.length
    expect(await send(service, workspace())).toMatchObject({ _tag: "Success" })
    expect(host.pull.comments.length).toBeLessThanOrEqual(before + 1)
    const [status] = service.status(input([], { head: host.pull.head }), "failure", verbatimReason("not published"))
    if (status === undefined) throw new Error("no status")
    await Effect.runPromise(owned(service.send(workspace(), change, status, undefined)))
    expect(host.forge.repository(repoName).statuses.get(host.pull.head)?.at(-1)).toMatchObject({ state: "failure" })
    const alone = outputsWith([wrong])
    expect(await send(alone, workspace())).toMatchObject({
      failure: { reason: "unauthorized", lostCredential: "host" }
    })
  })

  it.each([
    [
      "gitea",
      { hostId: "7", url: "http://forge.test/pulls/1#issuecomment-7" },
      "http://forge.test/pulls/1#issuecomment-7"
    ],
    ["gitlab", { hostId: "7" }, "http://forge.test/merge/1#note_7"],
    ["gitea", { hostId: "7" }, "http://dash.test/runs/1"],
    ["gitea", undefined, "http://dash.test/runs/1"]
  ] as const)("a status on %s links the summary %j, else the run", async (provider, summary, url) => {
    const service = outputsWith([host.forge.profile()])
    const given = { ...input([], { head: host.pull.head }), runUrl: "http://dash.test/runs/1" }
    const [status] = service.status(given, "success", verbatimReason("done"))
    if (status === undefined) throw new Error("no status")
    const subject = { ...change, provider, url: "http://forge.test/merge/1" }
    const previous = summary === undefined ? undefined : { ...status, ...summary }
    await Effect.runPromise(owned(service.send(workspace(), subject, status, previous)))
    expect(host.forge.repository(repoName).statuses.get(host.pull.head)?.at(-1)?.targetUrl).toBe(url)
  })

  it("sends with the channel's token to the channel's host and repository", async () => {
    const blind = {
      ...host.forge.profile(),
      token: undefined,
      apiUrl: "http://127.0.0.1:1",
      baseUrl: "http://127.0.0.1:1"
    }
    const service = outputsWith([blind], { OWN_TOKEN: host.forge.token })
    const channels = [
      { name: "own", kind: "gitea_pr_review", token_env: "OWN_TOKEN", base_url: host.forge.url, repo: "mirror" }
    ] as const
    const space = workspace({ channels, routes: routes("own") })
    expect(await send(service, space)).toMatchObject({ _tag: "Success" })
    expect(host.forge.pull("team/mirror", 1).comments.map(({ user }) => user.login)).toEqual(["aicr"])
  })

  it("sends the trigger's credential to no other origin than the trigger's, and to any path of it", async () => {
    const requests: Array<string | undefined> = []
    const other = createServer((request, response) => {
      requests.push(request.headers.authorization)
      response.writeHead(404).end()
    })
    const url = await new Promise<string>((done) => {
      other.listen(0, "127.0.0.1", () => {
        const address = other.address()
        done(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`)
      })
    })
    const sendTo = (profile: TriggerProfile) => {
      const channels = [{ name: "own", kind: "gitea_pr_review", base_url: `${url}/git` }] as const
      return send(outputsWith([profile]), workspace({ channels, routes: routes("own") }))
    }
    const refused = await sendTo(host.forge.profile())
    const why = { _tag: "CredentialOfOtherHost", trigger: "host" }
    expect(refused).toMatchObject({ failure: { _tag: "ChannelMissing", why: { why } } })
    expect(requests).toEqual([])
    await sendTo({ ...host.forge.profile(), baseUrl: url, apiUrl: `${url}/api/v1` })
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.every((authorization) => authorization?.includes(host.forge.token))).toBe(true)
    await new Promise((done) => other.close(done))
  })

  it("uses another trigger where the channel names one", async () => {
    const service = outputsWith([{ ...host.forge.profile(), token: undefined }, host.forge.profile("writer")])
    const channels = [{ name: "own", kind: "gitea_pr_review", trigger: "writer" }] as const
    expect(await send(service, workspace({ channels, routes: routes("own") }))).toMatchObject({ _tag: "Success" })
    expect(await send(service, workspace())).toMatchObject({ failure: new ForgeError({ ...unauthorized }) })
  })

  const unauthorized = {
    reason: "unauthorized",
    operation: "configuration",
    why: { _tag: "NoOutboundCredential", trigger: "host" }
  } as const

  it("names what is missing when the configuration has changed since then", async () => {
    const service = outputsWith([host.forge.profile()])
    const channels = [{ name: "own", kind: "gitea_pr_review" }] as const
    const row = summaryRow(service, workspace({ channels, routes: routes("own") }))
    const gone = await Effect.runPromise(owned(Effect.flip(service.send(workspace(), change, row, undefined))))
    expect(gone).toBeInstanceOf(ChannelMissing)
    expect(gone.message).toContain("channel own of workspace shop")
    const nowhere = await Effect.runPromise(
      Effect.flip(outputsWith([]).find(workspace(), change, summaryRow(service, workspace())))
    )
    expect(nowhere.message).toContain("trigger host is no longer configured")
  })

  it("publishes nothing to channels that it cannot serve, and does not name them in the summary", () => {
    const service = outputsWith([host.forge.profile()])
    const channels = [{ name: "chat", kind: Object("fax") }] as const
    const both = { default: { line_comments: ["gitea_pr_review"], summary: ["gitea_pr_review", "chat"] } }
    const given = input([], { workspace: workspace({ channels, routes: both }), analysis: analysis([]) })
    const planned = service.plan(given)
    expect(new Set(planned.map((row) => row.channel))).toEqual(new Set(["gitea_pr_review"]))
    expect(JSON.stringify(planned)).not.toContain("fax")
    const only = workspace({ channels, routes: routes("chat") })
    expect(service.anyFor(only, change)).toBe(false)
  })
})

describe("templates in workspaces' directories", () => {
  it("are tried when the configuration is loaded", async () => {
    const root = await mkdtemp(join(tmpdir(), "aicr-templates-"))
    const folder = join(root, "group", "shop", "templates")
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, "gitea_pr_review.summary.md.hbs"), "{{#if}}")
    await writeFile(join(folder, "gitea_pr_review.problem.md.hbs"), "{{problem.title}}")
    await writeFile(join(folder, "nobody.summary.md.hbs"), "{{#if}}")
    const channels = [{ name: "gitea_pr_review", kind: "gitea_pr_review" }] as const
    const snapshot = {
      ...testSnapshot({}),
      workspaces: new Map([["shop", workspace({ channels })]]),
      workspacesRoot: root
    }
    const found = templateFileProblems(snapshot)
    expect(found).toMatchObject([{ severity: "warning", path: join(folder, "gitea_pr_review.summary.md.hbs") }])
    expect(found.map(({ reason }) => inEnglish(reason))[0]).toContain(
      "is invalid as the summary of channel gitea_pr_review"
    )
    expect(templateFileProblems({ ...snapshot, workspacesRoot: join(root, "nowhere") })).toEqual([])
    await rm(root, { recursive: true })
  })
})

describe("links of a change that a schedule or a call started", () => {
  it("are made by its own trigger, else by the host's", () => {
    const scheduled = { ...change, trigger: "nightly", host: "host" }
    const profile = (name: string, commit?: string) => ({
      name,
      kind: "gitea" as const,
      enabled: true,
      webhookSecret: undefined,
      token: undefined,
      baseUrl: "http://host.test",
      apiUrl: "http://host.test/api/v1",
      settings: {
        name,
        kind: "gitea" as const,
        ...triggerDefaults,
        ...(commit === undefined ? {} : { commit_url_template: commit })
      }
    })
    const linked = (own: string | undefined) => {
      const service = outputsWith([profile("host", "https://host.link/{{sha}}"), profile("nightly", own)])
      return JSON.stringify(service.plan(input([finding(1)], { change: scheduled, workspace: workspace() })))
    }
    expect(linked(undefined)).toContain("https://host.link/")
    expect(linked("https://own.link/{{sha}}")).toContain("https://own.link/")
    expect(linked("https://own.link/{{sha}}")).not.toContain("https://host.link/")
  })
})
