/** Missing permissions of a credential, in words for people: reported by doctor, and on the run when a write is refused. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { reportAccess } from "../../src/forge/Access.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { missingOfInstallation, missingOfScopes } from "../../src/forge/github/Missing.ts"
import { getAccess } from "../harness/FakeAccess.ts"
import { fault } from "../harness/FakeForge.ts"
import { addHook, getHooks } from "../harness/FakeHooks.ts"
import type { FakeHook } from "../harness/FakeHooks.ts"
import { listEvents } from "../../src/domain/WebhookSetup.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { failure, repoName, run, startHost, unpaced } from "./Clients.ts"
import type { Host } from "./Clients.ts"
import { inEnglish } from "../../src/text/en.ts"

const needed = (kind: ForgeKind) =>
  listEvents(kind, ["reviews", "commands", "conversations", "merges"]).map(({ id }) => id)

/** A delivery of the host's log; 0 is no response. */
const toDelivery = (kind: ForgeKind, status: number): object =>
  kind === "gitlab"
    ? { id: 1, response_status: status === 0 ? "internal error" : String(status) }
    : { id: 1, status_code: status, delivered_at: "2026-01-31T12:00:00Z" }

describe.each(ForgeKind.literals)("credentials at %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })
  const start = async () => {
    const here = await startHost(kind)
    host = here
    return { here, access: getAccess(here.pull.repository) }
  }
  const reports = ({ forge }: Host, { review = {}, server = {} } = {}) => {
    const workspace = testWorkspace({ review })
    const instance = { ...workspace.instance, source_repo: { trigger: "host", repo: repoName } }
    const snapshot = {
      ...testSnapshot({ server }),
      triggers: new Map([["host", forge.profile()]]),
      workspaces: new Map([["one", { ...workspace, instance }]])
    }
    const found = Effect.runPromise(unpaced(Effect.provide(reportAccess(snapshot), Forges.layer)))
    return found.then((all) => all.map(({ level, reason }) => ({ level, text: inEnglish(reason) })))
  }

  it("that may do everything but list webhooks are reported as authenticated, with what that needs", async () => {
    const { here } = await start()
    expect(await reports(here)).toEqual([
      { level: "ok", text: `trigger host on ${repoName}: authenticated as aicr` },
      {
        level: "ok",
        text: expect.stringMatching(/webhooks not checked: the credential may not list them, which needs /)
      }
    ])
  })

  it("without write access are reported with what needs it", async () => {
    const { access, here } = await start()
    access.push = false
    const [report, ...others] = await reports(here)
    expect(others).toEqual([expect.objectContaining({ level: "ok" })])
    expect(report?.level).toBe("warning")
    expect(report?.text).toMatch(kind === "gitlab" ? /below Developer/ : /need write access/)
  })

  it.runIf(kind === "gitea" || kind === "forgejo")(
    "that may only write are reported with what they may not",
    async () => {
      const { access, here } = await start()
      access.admin = false
      const [report] = await reports(here)
      expect(report).toMatchObject({ level: "warning" })
      for (const part of [
        "/aicr commands",
        "dismissals",
        "context repositories",
        "request for changes",
        "deleting issues"
      ])
        expect(report?.text).toContain(part)
      expect(report?.text).toContain("make it an administrator of the repository")
    }
  )

  it("that may list webhooks have them checked, with the log of the host where it has one", async () => {
    const { here } = await start()
    const list = getHooks(here.forge, repoName)
    list.mayList = true
    const address = `https://aicr.test/prefix/webhooks/${kind}`
    const texts = async (hook?: Partial<FakeHook>) => {
      list.hooks.length = 0
      if (hook !== undefined) addHook(list, { url: address, events: needed(kind), ...hook })
      return (await reports(here, { server: { base_url: "https://aicr.test", path_prefix: "/prefix" } })).map(
        ({ text }) => text
      )
    }
    const complete = [`trigger host on ${repoName}: authenticated as aicr`]
    expect(await texts({})).toEqual(complete)
    expect(await texts({ url: "https://ci.test/hook" })).toEqual([
      expect.stringContaining(`no webhook of the repository points to ${address}`)
    ])
    const [elsewhere = ""] = await texts({ url: `https://user:pa55@old.test/webhooks/${kind}?token=pa55` })
    expect(elsewhere).toContain(`points to https://old.test/webhooks/${kind}, and server.base_url gives ${address}`)
    expect(elsewhere).not.toContain("pa55")
    expect(await texts({ isActive: false })).toEqual([expect.stringContaining("is not active")])
    expect(await texts({ events: ["push"] })).toEqual([expect.stringContaining("lacks the events ")])

    list.deliveries = [401, 0, 202].map((status) => toDelivery(kind, status))
    const hasLog = kind === "github" || kind === "gitlab"
    const at = kind === "github" ? " at 2026-01-31T12:00:00Z" : ""
    const failing = `trigger host on ${repoName}: the host's log has 2 failed deliveries of the last 3, the newest${at} with status 401; the secret of the webhook is not that of webhook_secret_env`
    expect(await texts({})).toEqual(hasLog ? [failing] : complete)
    list.deliveries = [202, 500].map((status) => toDelivery(kind, status))
    expect(await texts({})).toEqual(complete)
  })

  it("are content with a webhook of the owner", async () => {
    const { here } = await start()
    getHooks(here.forge, repoName).mayList = true
    const list = getHooks(here.forge, "team")
    list.mayList = true
    addHook(list, { url: `https://aicr.test/webhooks/${kind}`, events: needed(kind) })
    const server = { base_url: "https://aicr.test" }
    expect(await reports(here, { server })).toEqual([
      { level: "ok", text: `trigger host on ${repoName}: authenticated as aicr` }
    ])
  })

  it("that the host refuses are named with what to check", async () => {
    const { here } = await start()
    const lacks = "token does not have at least one of required scope(s): [read:issue]"
    const paths = { gitea: "/issues", forgejo: "/issues", github: "GET /repos", gitlab: "GET /projects" }
    here.forge.fail(paths[kind], fault.answered(403, { message: lacks }))
    const [report] = await reports(here)
    expect(report).toMatchObject({ level: "error" })
    expect(report?.text).toContain(lacks)
    here.forge.fail("/user", fault.unauthorized)
    expect((await reports(here))[0]?.text).toContain("check token_env or app of the trigger")
  })

  it("are checked for CI where a review reads its artifacts", async () => {
    const { here } = await start()
    const list = getHooks(here.forge, repoName)
    list.mayList = true
    addHook(list, { url: `https://aicr.test/webhooks/${kind}`, events: needed(kind) })
    const review = { evidence: { ci: { artifacts: ["sarif"] } } }
    const texts = async () => (await reports(here, { review })).map(({ level, text }) => `${level}: ${text}`)
    const prefix = `trigger host on ${repoName}: review.evidence.ci reads nothing:`
    const none = `warning: ${prefix} the API of forgejo has no artifacts of CI`
    const ok = `ok: trigger host on ${repoName}: authenticated as aicr`
    expect(await texts()).toEqual([kind === "forgejo" ? none : ok])
    here.forge.fail(
      kind === "gitlab" ? "/pipelines" : "/actions/runs",
      fault.answered(403, { message: "Resource not accessible" }, { "x-accepted-github-permissions": "actions=read" })
    )
    const refused = new RegExp(`^warning: ${prefix} GET .* Resource not accessible: needs actions=read`)
    expect(await texts()).toEqual([expect.stringMatching(kind === "forgejo" ? none : refused)])
  })

  it("that lack a scope for a write have it on the run", async () => {
    const { here } = await start()
    here.forge.fail(
      "POST ",
      fault.answered(
        403,
        { message: "token does not have at least one of required scope(s): [write:issue]" },
        { "x-accepted-github-permissions": "issues=write; pull_requests=write" }
      )
    )
    const { message } = await failure(here.client.createComment(here.repo, 1, "text"))
    expect(message).toContain("[write:issue]")
    expect(message).toContain("the credential lacks a permission; grant it access to this repository")
    expect(message).toContain("needs issues=write; pull_requests=write")
  })
})

describe("scopes", () => {
  it.each([
    ["github", [], "the token has no scope; a classic token needs repo"],
    ["github", ["read:org", "gist"], "the token has the scopes read:org, gist; a classic token needs repo"],
    ["github", ["repo"], undefined],
    ["gitlab", ["read_api"], "the token has the scopes read_api; it needs api"],
    ["gitlab", ["api"], undefined]
  ] as const)("%s %j: %s", async (kind, scopes, text) => {
    const { client, forge, pull, repo } = await startHost(kind)
    getAccess(pull.repository).scopes = scopes
    expect((await run(client.missing(repo))).map(inEnglish)).toEqual(text === undefined ? [] : [text])
    await forge.stop()
  })

  it("of public repositories are fewer, and fine-grained tokens say none", () => {
    expect(missingOfScopes("public_repo", false)).toEqual([])
    expect(missingOfScopes("public_repo", true)).toHaveLength(1)
    expect(missingOfScopes(undefined, true)).toEqual([])
  })

  it("of an app's installation", () => {
    const granted = { contents: "read", pull_requests: "write", issues: "read", metadata: "read" }
    expect(missingOfInstallation(granted).map(inEnglish)).toEqual([
      "the app's installation lacks the permission issues: write (summaries, issues and labels); grant it in the app's settings",
      "the app's installation lacks the permission checks: write (the check run, instead of which a commit status is written); grant it in the app's settings"
    ])
    expect(missingOfInstallation({ ...granted, issues: "write", checks: "admin" })).toEqual([])
  })
})
