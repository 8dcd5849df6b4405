/** Webhooks at each host: found, judged, created and repaired by one write at most. Those of others stay as they are. */
import { generateKeyPairSync } from "node:crypto"
import { Effect, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { listEvents } from "../../src/domain/WebhookSetup.ts"
import { ensureHook, findServing, readHook } from "../../src/forge/EnsureHook.ts"
import type { HookMode, WantedHook } from "../../src/forge/EnsureHook.ts"
import { githubClient } from "../../src/forge/github/Client.ts"
import { addHook, getHooks, getHookState } from "../harness/FakeHooks.ts"
import type { FakeHook, FakeHookList } from "../harness/FakeHooks.ts"
import { fault } from "../harness/FakeForge.ts"
import { failure, repoName, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"
import { newTraffic } from "../harness/Owners.ts"

const scope = { _tag: "Repository", fullName: repoName } as const
const secret = Redacted.make("current")

describe("the webhook of an app", () => {
  const address = "https://aicr.test/webhooks/github"
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const events = ["pull_request", "issue_comment"]
  const wanted: WantedHook = { addresses: [address], events, writtenId: undefined, hasSecret: undefined }

  it("serves every repository, is written where it is free or that of the service, and keeps its events", async () => {
    const { forge } = await startHost("github")
    onTestFinished(forge.stop)
    const profile = forge.profile()
    const app = { app_id: 12_345, private_key: Redacted.make(pem) }
    const { hooks } = githubClient(
      { ...profile, token: undefined, settings: { ...profile.settings, app } },
      newTraffic()
    )
    const state = getHookState(forge).app
    const ensure = (mode: HookMode) => run(ensureHook(hooks, { _tag: "Host" }, wanted, { mode, secret }))
    const found = await run(findServing(hooks, "team", wanted))
    expect(found).toMatchObject({ scope: { _tag: "Host" }, read: { hook: undefined } })
    state.events = ["pull_request"]
    const created = await ensure("create")
    expect(created.problems).toEqual([])
    expect(state).toMatchObject({ url: address, contentType: "json", secret: "current" })
    const lacking = { problems: [{ _tag: "WebhookLacksEvents", events: ["issue_comment"] }], written: undefined }
    expect(await ensure("repair")).toMatchObject(lacking)
    Object.assign(state, { contentType: "form", events })
    expect(await ensure("repair")).toMatchObject({ problems: [], written: { action: "repair" } })
    expect(state.contentType).toBe("json")
    state.url = "https://other.test/webhooks/github"
    expect(await ensure("create")).toMatchObject({ problems: [{ _tag: "WebhookElsewhere" }], written: undefined })
    expect(state.url).toBe("https://other.test/webhooks/github")
    const installed = await run(hooks.repositories({ name: "team", repositories: [repoName] }))
    expect(installed.map(({ repo }) => repo.fullName)).toEqual([repoName])
    forge.expectContract()
  })
})

describe.each(ForgeKind.literals)("a webhook at %s", (kind) => {
  let host: Host
  let list: FakeHookList
  const address = `https://aicr.test/prefix/webhooks/${kind}`
  const events = listEvents(kind, ["reviews", "commands", "conversations", "merges"]).map(({ id }) => id)
  const wanted: WantedHook = { addresses: [address], events, writtenId: undefined, hasSecret: undefined }
  const complete: Partial<FakeHook> = { url: address, events, secret: "current" }
  const foreign = { url: "https://ci.test/webhooks/github", events: ["push"], secret: "theirs" }

  beforeEach(async () => {
    host = await startHost(kind)
    list = getHooks(host.forge, repoName)
    list.mayList = true
    list.mayWrite = true
  })
  afterEach(async () => {
    host.forge.expectContract()
    await host.forge.stop()
  })

  const ensure = (mode: HookMode, more: Partial<WantedHook> = {}) =>
    run(ensureHook(host.client.hooks, scope, { ...wanted, ...more }, { mode, secret }))
  const tags = ({ problems }: Awaited<ReturnType<typeof ensure>>) => problems.map(({ _tag }) => _tag)
  const writes = () => host.forge.writes().length

  it("that is missing is reported, and created with everything that it needs, once", async () => {
    addHook(list, foreign)
    expect(tags(await ensure("report"))).toEqual(["WebhookElsewhere"])
    expect(tags(await ensure("repair"))).toEqual(["WebhookElsewhere"])
    expect(writes()).toBe(0)
    expect(await ensure("create")).toMatchObject({ problems: [], written: { action: "create" } })
    const [theirs, own, ...others] = list.hooks
    expect(others).toEqual([])
    expect(theirs).toMatchObject(foreign)
    expect(own).toMatchObject({ ...complete, isActive: true, contentType: "json" })
    expect(await ensure("create")).toMatchObject({ problems: [], written: undefined })
    expect(writes()).toBe(1)
  })

  const json = kind === "gitlab" ? [] : ([["WebhookContentType", { contentType: "form" }, {}]] as const)
  it.each([
    ["WebhookElsewhere", { url: "https://aicr.test/prefix/webhooks/wrong" }, {}],
    ["WebhookElsewhere", { url: "https://aicr.test/webhook" }, { addresses: [`https://aicr.test/webhooks/${kind}`] }],
    ["WebhookLacksEvents", { events: ["push"] }, {}],
    ["WebhookInactive", { isActive: false }, {}],
    ["SecretDiffers", { secret: "stale" }, { hasSecret: false }],
    ...json
  ] as const)("with the problem %s (%j) is repaired in place, by one update", async (problem, broken, more) => {
    const hook = addHook(list, { ...complete, ...broken, branchFilter: "release/*" })
    const given: Partial<WantedHook> = { ...more, ...("hasSecret" in more ? { writtenId: String(hook.id) } : {}) }
    expect(tags(await ensure("report", given))).toEqual([problem])
    expect(writes()).toBe(0)
    expect(await ensure("repair", given)).toMatchObject({
      problems: [],
      written: { action: "repair", id: String(hook.id) }
    })
    expect(list.hooks).toHaveLength(1)
    expect(hook).toMatchObject({ isActive: true, secret: "current", contentType: "json" })
    expect(hook.url).toBe(given.addresses?.[0] ?? address)
    expect(events.filter((event) => !hook.events.includes(event))).toEqual([])
    // What people chose stays; GitLab has other names.
    const kept = "events" in broken && kind !== "gitlab" ? broken.events : []
    expect(kept.filter((event) => !hook.events.includes(event))).toEqual([])
    expect(hook.branchFilter).toBe("release/*")
    // GitLab enables a webhook by a test only.
    expect(writes()).toBe("isActive" in broken && kind === "gitlab" ? 2 : 1)
  })

  it("whose deliveries the service refused has another secret, until the service has written it", async () => {
    if (kind === "gitea" || kind === "forgejo") return
    const hook = addHook(list, { ...complete, secret: "stale" })
    list.deliveries = [kind === "gitlab" ? { response_status: 401 } : { status_code: 401, delivered_at: "2026-01-01" }]
    expect(tags(await ensure("report"))).toEqual(["DeliveriesFailed"])
    await ensure("repair")
    expect(hook.secret).toBe("current")
    const again = await ensure("repair", { writtenId: String(hook.id), hasSecret: true })
    expect([tags(again), again.written, writes()]).toEqual([["DeliveriesFailed"], undefined, 1])
  })

  it("that exists twice is reported, and none is changed", async () => {
    addHook(list, complete)
    addHook(list, complete)
    expect(tags(await ensure("create"))).toEqual(["WebhookTwice"])
    expect(writes()).toBe(0)
  })

  it("next to a broken one needs nothing, and of two broken ones one is repaired", async () => {
    addHook(list, { ...complete, isActive: false })
    const second = addHook(list, complete)
    expect(await ensure("create")).toMatchObject({ problems: [], written: undefined })
    second.isActive = false
    await ensure("create")
    expect(list.hooks.filter(({ isActive }) => isActive)).toHaveLength(1)
    expect(list.hooks).toHaveLength(2)
  })

  it("behind many others is found", async () => {
    for (let n = 0; n < 120; n++) addHook(list, { ...foreign, url: `https://ci.test/${n}` })
    addHook(list, complete)
    expect(await ensure("create")).toMatchObject({ problems: [], written: undefined })
  })

  it("that the credential may not write is reported with why", async () => {
    list.mayWrite = false
    expect(tags(await ensure("create"))).toEqual(["NoWebhook", "WebhookNotWritten"])
    addHook(list, { ...complete, isActive: false })
    expect(tags(await ensure("repair"))).toEqual(["WebhookInactive", "WebhookNotWritten"])
    list.mayList = false
    expect((await failure(readHook(host.client.hooks, scope, wanted))).reason).toBe("forbidden")
  })

  it("whose creation has no response is not created again", async () => {
    for (const thrown of [fault.lost, fault.half, fault.broken]) {
      list.hooks.length = 0
      host.forge.fail(/^POST .*hooks$/, thrown)
      const first = await Effect.runPromise(
        Effect.promise(() => ensure("create")).pipe(Effect.catchDefect(() => Effect.succeed(undefined)))
      )
      if (first?.written === undefined) await ensure("create")
      expect(list.hooks.map(({ url }) => url)).toEqual([address])
    }
  })

  it("of the owner serves all its repositories", async () => {
    expect(await run(findServing(host.client.hooks, "team", wanted))).toBeUndefined()
    const owner = getHooks(host.forge, "team")
    owner.mayList = true
    expect(await run(findServing(host.client.hooks, "team", wanted))).toBeUndefined()
    addHook(owner, { ...complete, isActive: false })
    const found = await run(findServing(host.client.hooks, "team", wanted))
    expect(found?.scope).toEqual({ _tag: "Owner", name: "team" })
    expect(found?.read.problems.map(({ _tag }) => _tag)).toEqual(["WebhookInactive"])
  })

  it("lists repositories of organisations and people, and notices new ones", async () => {
    const { client, forge } = host
    const owner = { name: "team", repositories: [repoName] }
    const newest = await run(client.hooks.newest(owner))
    expect(await run(client.hooks.newest(owner))).toBe(newest)
    await forge.createRepository("team/new")
    getHookState(forge).archived.add("team/new")
    expect(await run(client.hooks.newest(owner))).not.toBe(newest)
    const listed = await run(client.hooks.repositories(owner))
    expect(listed.map(({ isArchived, repo }) => [repo.fullName, isArchived]).toSorted()).toEqual([
      ["team/new", true],
      [repoName, false]
    ])
    await forge.createRepository("dana/own")
    getHookState(forge).people.add("dana")
    const own = await run(client.hooks.repositories({ name: "dana", repositories: [] }))
    expect(own.map(({ repo }) => repo.fullName)).toEqual(["dana/own"])
  })
})
