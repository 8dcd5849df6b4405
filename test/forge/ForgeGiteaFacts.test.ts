/** Facts about Gitea and Forgejo that their API descriptions do not contain (src/forge/gitea/Facts.ts). */
import { afterEach, describe, expect, it } from "vitest"
import { webhooks } from "../../src/forge/Webhooks.ts"
import { fault } from "../harness/FakeForge.ts"
import { alone, changed, range, repoName, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"

describe.each(["gitea", "forgejo"] as const)("%s", (kind) => {
  let host: Host | undefined
  const start = async (): Promise<Host> => (host = await startHost(kind))
  afterEach(async () => {
    await host?.forge.stop()
    host = undefined
  })
  const post = ({ client, pull, repo }: Host, comments: ReadonlyArray<ReturnType<typeof range>>) =>
    run(client.createReview(repo, 1, { head: pull.head, event: "COMMENT", body: "b", comments, pending: alone }))
  const lines = ({ pull }: Host) =>
    pull.reviews.flatMap(({ comments }) => comments.map(({ line, startLine }) => `${startLine ?? line}-${line}`))

  it.each([
    ["10.0.0+gitea-1.22.0", "30-30"],
    ["16.0.1+gitea-1.22.0", kind === "forgejo" ? "29-30" : "30-30"]
  ])("of version %s has a comment on several lines at %s", async (version, expected) => {
    const here = await start()
    here.forge.fail(/\/version$/, fault.answered(200, { version }), 5)
    await post(here, [changed("one line")])
    const versions = () => here.forge.requests.filter(({ path }) => path.endsWith("/version")).length
    expect(versions()).toBe(0)
    await post(here, [range("two lines")])
    await post(here, [range("two lines again")])
    expect(lines(here)).toEqual(["20-20", expected, expected])
    expect(versions()).toBe(kind === "forgejo" ? 1 : 0)
  })

  it("that hides its version has comments on the last line", async () => {
    const here = await start()
    here.forge.fail(/\/version$/, fault.forbidden, 5)
    await post(here, [range("two lines")])
    expect(lines(here)).toEqual(["30-30"])
  })

  it("has comments of strangers on the same line, which are no replies and are not read", async () => {
    const here = await start()
    await post(here, [changed("own")])
    const [own] = here.pull.reviews
    if (own === undefined) throw new Error("no review")
    const comments = own.comments.map((comment) => ({ ...comment, id: 9001, body: "my remark" }))
    here.pull.reviews.push({ ...own, id: 9000, user: here.forge.user("dana"), comments })
    const before = here.forge.requests.length
    const threads = await run(here.client.threads.list(here.repo, 1))
    expect(threads.map(({ body, replied }) => [body, replied])).toEqual([["own", false]])
    expect(here.forge.requests.slice(before).filter(({ path }) => path.includes("/9000/"))).toEqual([])
  })

  it("uses a label of the organisation, and creates one that neither it nor the repository has", async () => {
    const here = await start()
    const fake = here.forge.issues(repoName)
    fake.organisationLabels = [{ id: 9100, name: "Shared", color: "ededed" }]
    const label = (name: string) => run(here.client.addLabel(here.repo, 1, name))
    const asked = () => here.forge.requests.filter(({ path }) => path.includes("/orgs/")).length
    await label("shared")
    expect([[...fake.labels.keys()], asked()]).toEqual([[], 1])
    await label("shared")
    expect(asked()).toBe(1)
    await label("own")
    await label("own")
    expect([[...fake.labels.keys()], asked()]).toEqual([["own"], 2])
    expect(here.pull.labels.map(({ name }) => name)).toEqual(["bug", "Shared", "own"])
    here.forge.expectContract()
  })

  it.each([fault.forbidden, fault.answered(404, {})])(
    "creates labels without those of an organisation",
    async (thrown) => {
      const here = await start()
      here.forge.fail(/\/orgs\//, thrown, 9)
      await run(here.client.addLabel(here.repo, 1, "own"))
      expect([...here.forge.issues(repoName).labels.keys()]).toEqual(["own"])
    }
  )

  it("lists webhooks in pages", async () => {
    const here = await start()
    const hooks = Array.from({ length: 60 }, (_, n) => ({
      id: n,
      active: true,
      events: ["push"],
      config: { url: `u${n}` }
    }))
    here.forge.intercept(({ path, query }) => {
      const from = (Number(query.get("page") ?? 1) - 1) * 30
      const page = hooks.slice(from, from + 30)
      return path.endsWith("/hooks") ? fault.answered(200, page, { "x-total-count": "60" }) : undefined
    })
    const listed = await run(here.client.hooks.list({ _tag: "Repository", fullName: repoName }))
    expect(listed.map(({ url }) => url)).toEqual(hooks.map(({ config }) => config.url))
  })

  it("reports a draft as ready when any configured prefix is removed from its title", () => {
    const parse = (from: string, title: string, draft: boolean | undefined) => {
      const payload = {
        action: "edited",
        number: 1,
        changes: { title: { from } },
        pull_request: {
          number: 1,
          title,
          ...(draft === undefined ? {} : { draft }),
          head: { ref: "f", sha: "a".repeat(40) },
          base: { ref: "main", sha: "b".repeat(40) },
          user: { login: "dana" }
        },
        repository: { id: 1, full_name: repoName },
        sender: { login: "dana" }
      }
      const parsed = webhooks[kind].parse({ "x-gitea-event": "pull_request" }, Buffer.from(JSON.stringify(payload)))
      return parsed._tag === "Event" ? parsed.event._tag : parsed._tag
    }
    for (const before of ["WIP: Add", "[WIP] Add", "Draft: Add", "[Entwurf] Add", "草稿: Add"])
      expect(parse(before, "Add", false)).toBe("PullRequestUpdated")
    expect(parse("Draft: Add", "Add", undefined)).toBe("Ignored")
    expect(parse("WIP: Add", "Add", undefined)).toBe("PullRequestUpdated")
    expect(parse("Draft: Add", "Add", true)).toBe("Ignored")
    expect(parse("Please Add", "Add", false)).toBe("Ignored")
    expect(parse("Add", "Add more", false)).toBe("Ignored")
  })
})

describe.each(["gitea", "forgejo", "github", "gitlab"] as const)("a repository that moved at %s", (kind) => {
  it("is named with its present name, and is no problem while its name is the same", async () => {
    const here = await startHost(kind)
    const answer = (name: string) => ({
      full_name: name,
      path_with_namespace: name,
      permissions: { push: true, admin: true, project_access: { access_level: 40 } }
    })
    const path = kind === "gitlab" ? /\/projects\/team%2Fshop$/i : /\/repos\/team\/shop$/
    here.forge.fail(path, fault.answered(200, answer("elsewhere/shop")))
    const moved = { _tag: "RepositoryMoved", from: repoName, to: "elsewhere/shop" }
    expect(await run(here.client.missing(here.repo))).toContainEqual(moved)
    here.forge.fail(path, fault.answered(200, answer("Team/Shop")))
    expect((await run(here.client.missing(here.repo))).map(({ _tag }) => _tag)).not.toContain("RepositoryMoved")
    await here.forge.stop()
  })
})
