/** Missing permissions of a credential, in words for people: reported by doctor, and on the run when a write is refused. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { reportAccess } from "../../src/forge/Access.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { missingOfInstallation, missingOfScopes } from "../../src/forge/github/Missing.ts"
import { getAccess } from "../harness/FakeAccess.ts"
import { fault } from "../harness/FakeForge.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { failure, repoName, run, startHost, unpaced } from "./Clients.ts"
import type { Host } from "./Clients.ts"

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
  const reports = ({ forge }: Host) => {
    const workspace = testWorkspace()
    const instance = { ...workspace.instance, source_repo: { trigger: "host", repo: repoName } }
    const snapshot = {
      ...testSnapshot({}),
      triggers: new Map([["host", forge.profile()]]),
      workspaces: new Map([["one", { ...workspace, instance }]])
    }
    return Effect.runPromise(unpaced(Effect.provide(reportAccess(snapshot), Forges.layer)))
  }

  it("that may do everything are reported as authenticated", async () => {
    const { here } = await start()
    expect(await reports(here)).toEqual([{ level: "ok", text: `trigger host: authenticated as aicr on ${repoName}` }])
  })

  it("without write access are reported with what needs it", async () => {
    const { access, here } = await start()
    access.push = false
    const [report, ...others] = await reports(here)
    expect(others).toEqual([])
    expect(report?.level).toBe("warning")
    expect(report?.text).toMatch(kind === "gitlab" ? /below Developer/ : /need write access/)
  })

  const listing = kind === "gitea" || kind === "forgejo" ? [kind] : []
  it.each(listing)("that may list webhooks at %s have them checked", async () => {
    const { access, here } = await start()
    const hook = (more: object = {}) => ({
      id: 1,
      type: "gitea",
      active: true,
      events: ["pull_request", "pull_request_sync", "push"],
      config: { url: "https://aicr.test/prefix/webhooks/gitea", content_type: "json" },
      ...more
    })
    const texts = async (...hooks: ReadonlyArray<object>) => {
      access.hooks = hooks
      return (await reports(here)).map(({ text }) => text)
    }
    expect(await texts(hook())).toEqual([`trigger host: authenticated as aicr on ${repoName}`])
    expect(await texts(hook({ config: { url: "https://ci.test/hook" } }))).toEqual([
      expect.stringContaining("no webhook of the repository points to a path /webhooks/")
    ])
    expect(await texts(hook({ active: false }))).toEqual([expect.stringContaining("is not active")])
    expect(await texts(hook({ events: ["push"] }))).toEqual([
      expect.stringContaining("lacks the events pull_request, pull_request_sync")
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
    expect(await run(client.missing(repo))).toEqual(text === undefined ? [] : [text])
    await forge.stop()
  })

  it("of public repositories are fewer, and fine-grained tokens say none", () => {
    expect(missingOfScopes("public_repo", false)).toEqual([])
    expect(missingOfScopes("public_repo", true)).toHaveLength(1)
    expect(missingOfScopes(undefined, true)).toEqual([])
  })

  it("of an app's installation", () => {
    const granted = { contents: "read", pull_requests: "write", issues: "read", metadata: "read" }
    expect(missingOfInstallation(granted)).toEqual([
      "the app's installation lacks the permission issues: write (summaries, issues and labels); grant it in the app's settings",
      "the app's installation lacks the permission statuses: write (the commit status); grant it in the app's settings"
    ])
    expect(missingOfInstallation({ ...granted, issues: "write", statuses: "admin" })).toEqual([])
  })
})
