/** Reviews of pushes: comments on commits where the host has them, aggregated issues; and the author's mention. */
import { afterEach, describe, expect, it } from "vitest"
import type { Fault } from "../../../demo/DemoForge.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { mentionSlot, fillMentions } from "../../../src/outputs/text/Mention.ts"
import { repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { orDie, publishAll, makeChannelContext } from "../Publishing.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const targets = ["push", "manual", "scheduled", "commit"] as const

let host: Host | undefined
const start = async (kind: ForgeKind): Promise<Host> => (host = await startHost(kind))
afterEach(async () => {
  host?.forge.expectContract()
  await host?.forge.stop()
  host = undefined
})

const pushed = (here: Host, findings: ReadonlyArray<Finding>, head = here.pull.head) =>
  input(findings, {
    change: { ...change, provider: here.forge.kind, head, target: { kind: "push", branch: "main" } },
    head,
    // The code of problems that are not found is gone.
    analysis: analysis(findings, { checked: [{ file: "src/a.ts", state: "gone" }] })
  })

describe("what each channel publishes", () => {
  it.each([
    ["gitea_pr_review", false],
    ["github_pr_review", true],
    ["gitlab_mr_review", true],
    ["gitea_issue", true],
    ["github_issue", true],
    ["gitea_problem_issue", true],
    ["github_problem_issue", true],
    ["gitlab_problem_issue", true]
  ] as const)("%s of pushes: %s", (name, serves) => {
    for (const kind of targets) {
      expect(table[name].serves({ ...change, target: { kind, branch: "main" } })).toBe(serves)
    }
    expect(table[name].serves(change)).toBe(true)
    expect(table[name].serves({ ...change, target: { kind: "issue", number: 3 } })).toBe(false)
  })
})

const faults: ReadonlyArray<readonly [string, Fault]> = [
  ["nothing", fault.slow(0)],
  ["lost", fault.lost],
  ["cut", fault.cut],
  ["500", fault.broken],
  ["429", fault.tooMany("0")]
]

describe.each([
  ["github", table.github_pr_review],
  ["gitlab", table.gitlab_mr_review]
] as const)("comments on commits of %s", (kind, row) => {
  it.each(faults)("are written once, with everything in them, when %s happens", async (_, thrown) => {
    const here = await start(kind)
    let writes = 0
    here.forge.intercept(({ method }) => (method !== "GET" && ++writes === 1 ? thrown : undefined))
    const own = channel({
      name: "c",
      kind: `${kind === "github" ? "github_pr" : "gitlab_mr"}_review`,
      mention_author: true
    })
    await publishAll({ forge: here.forge, kind: row, channel: own }, pushed(here, [finding(1), finding(2)]))
    const { commitComments } = here.forge.issues(repoName)
    expect(commitComments.map(({ sha }) => sha)).toEqual([here.pull.head])
    expect(commitComments[0]?.body).toContain("Message 1")
    expect(commitComments[0]?.body).toContain("Message 2")
    expect(commitComments[0]?.body).toContain("\n@dana\n")
  })
})

describe.each([
  ["gitea", "gitea_issue"],
  ["forgejo", "gitea_issue"],
  ["github", "github_issue"]
] as const)("aggregated texts of %s", (kind, name) => {
  const setup = (here: Host) => ({ forge: here.forge, kind: table[name], channel: channel({ name: "a", kind: name }) })

  it.each(faults)("are one issue per branch, kept up to date, when %s happens", async (_, thrown) => {
    const here = await start(kind)
    const { issues } = here.forge.issues(repoName)
    for (const [i, findings] of [[finding(1), finding(2)], [finding(2)], []].entries()) {
      let seen = 0
      here.forge.intercept(({ method }) => (method !== "GET" && ++seen === 1 ? thrown : undefined))
      await publishAll(setup(here), pushed(here, findings, String(i).repeat(40)))
      expect(issues.map(({ state }) => state)).toEqual([findings.length === 0 ? "closed" : "open"])
      for (const n of [1, 2]) {
        const there =
          findings.length === 0 ? n === 2 : findings.some(({ problem }) => problem.message === `Message ${n}`)
        expect(issues[0]?.body.includes(`Message ${n}`)).toBe(there)
      }
    }
    expect(issues[0]?.title).toBe("[AICR] Problems in main")
    expect(issues[0]?.assignees).toEqual([])
  })

  it("are one comment on a pull request", async () => {
    const here = await start(kind)
    const given = input([finding(1)], { change: { ...change, provider: kind }, head: here.pull.head })
    await publishAll(setup(here), given)
    await publishAll(setup(here), { ...given, head: "b".repeat(40) })
    expect(here.pull.comments.map(({ body }) => body.includes("Message 1"))).toEqual([true])
    expect(here.pull.reviews).toEqual([])
  })
})

describe("mentions", () => {
  const body = `Hello\n\n${mentionSlot}\n\nrest`
  const fill = async (
    here: Host,
    settings: Parameters<typeof channel>[0],
    outputs: Parameters<typeof workspace>[0] = {}
  ) => {
    const given = { ...pushed(here, []), workspace: workspace(outputs) }
    const author = { ...given.change, author: { username: "not a name" } }
    const setup = { forge: here.forge, kind: table.gitea_pr_review, channel: channel(settings) }
    const to = makeChannelContext(setup, { ...given, change: { ...author, requestedBy: "rita" } }, here.client)
    return run(orDie(fillMentions(to, { body, head: here.pull.head })))
  }

  it("names the account of the author, falls back as configured and requests none without a slot", async () => {
    const here = await start("gitea")
    expect(await fill(here, {})).toBe("Hello\n\nrest")
    expect(await fill(here, { mention_fallback: "all" })).toBe("Hello\n\n@rita\n\nrest")
    const accounts = here.forge.issues(repoName).accounts
    const email = (await run(here.client.commitAuthor(here.repo, here.pull.head))).email ?? ""
    accounts.set(email, "olga")
    expect(await fill(here, {})).toBe("Hello\n\n@olga\n\nrest")
    expect(await fill(here, {}, { author_resolution: { email_mappings: { [email]: "mapped" } } })).toBe(
      "Hello\n\n@mapped\n\nrest"
    )
    const asked = here.forge.requests.length
    const setup = { forge: here.forge, kind: table.gitea_pr_review, channel: channel() }
    const plain = fillMentions(makeChannelContext(setup, pushed(here, []), here.client), { body: "x", head: "h" })
    expect(await run(orDie(plain))).toBe("x")
    expect(here.forge.requests).toHaveLength(asked)
  })

  it("mentions the whole project on GitLab", async () => {
    const here = await start("gitlab")
    expect(await fill(here, { mention_fallback: "all" })).toBe("Hello\n\n@all\n\nrest")
  })
})
