/** The account of the service gets another name while the service runs: what it wrote before is still its own, on every host. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import type { ChannelKind } from "../../../src/outputs/channels/Channel.ts"
import { alone, changed, file, repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { analysis, change, channel, finding, input } from "../Fixtures.ts"
import { publishAll } from "../Publishing.ts"
import { listSummaries } from "../../harness/Summaries.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const reviews = {
  gitea: "gitea_pr_review",
  forgejo: "gitea_pr_review",
  github: "github_pr_review",
  gitlab: "gitlab_mr_review"
} as const
const issues = {
  gitea: "gitea_problem_issue",
  forgejo: "gitea_problem_issue",
  github: "github_problem_issue",
  gitlab: "gitlab_problem_issue"
} as const
const found: ReadonlyArray<Finding> = [20, 29, 30].map((line) =>
  finding(line, { file }, { path: file, side: "new", line })
)

describe.each(ForgeKind.literals)("after the account was renamed, on %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const begin = async (name: keyof typeof table, row: ChannelKind) => {
    const here = await startHost(kind)
    host = here
    const { client } = here
    const history: Array<Publication> = []
    const review = async (findings: ReadonlyArray<Finding>, previous = history) => {
      const files = { [`n${history.length}.txt`]: "x\n" }
      await here.forge.push(repoName, { branch: "feature/x", message: "more", files })
      const { head } = here.pull
      const own = channel({ name: "own", kind: name, assign_committer: false })
      return publishAll(
        { forge: here.forge, kind: row, channel: own, history: previous, client },
        input(findings, {
          runId: `run-${head}`,
          change: { ...change, provider: kind, head, baseRef: "main" },
          head,
          analysis: analysis(findings, {
            coverage: { reviewed: [file], skipped: [], lines: 3 },
            checked: [{ file, state: "gone" }]
          })
        })
      )
    }
    return { here, review }
  }

  it.each(["with its records", "without them"])("comments and the summary are not written again, %s", async (how) => {
    const { here, review } = await begin(reviews[kind], table[reviews[kind]])
    await review(found)
    here.forge.renameSelf("aicr-bot")
    await review(found, how === "without them" ? [] : undefined)
    expect(here.pull.reviews.flatMap(({ comments }) => comments)).toHaveLength(3)
    expect(listSummaries(here.pull)).toHaveLength(1)
    expect(listSummaries(here.pull)[0]?.body).toContain(here.pull.head.slice(0, 7))
  })

  it("comments of problems that are gone are resolved, and no account counts as having replied or dismissed", async () => {
    const { here, review } = await begin(reviews[kind], table[reviews[kind]])
    await review(found)
    here.forge.renameSelf("aicr-bot")
    await review(found.slice(1))
    const comment = here.pull.reviews.flatMap(({ comments }) => comments)[0]
    if (comment === undefined) throw new Error("no comment")
    const { body, resolver } = getThread(comment)
    expect(kind === "gitlab" ? resolver?.login : body).toContain(kind === "gitlab" ? "aicr-bot" : "Resolved")
    const sent = await review(found)
    const reactions = sent.findLast(({ operation }) => operation._tag === "Threads")?.reactions
    expect(reactions?.filter(({ dismissed, replied }) => dismissed || replied)).toEqual([])
  })

  it("managed issues are found, and closed when their problem is gone", async () => {
    const { here, review } = await begin(issues[kind], table[issues[kind]])
    await review(found)
    here.forge.renameSelf("aicr-bot")
    await review(found.slice(1))
    expect(here.forge.issues(repoName).issues.map(({ state }) => state)).toEqual(["closed", "open", "open"])
  })

  it("its requests for changes are found", async () => {
    const here = await startHost(kind)
    host = here
    const { client, pull, repo } = here
    expect((await run(client.self)).username).toBe("aicr")
    const review = { head: pull.head, event: "REQUEST_CHANGES", body: "No", comments: [changed("x")] } as const
    await run(client.createReview(repo, 1, { ...review, pending: alone }))
    here.forge.renameSelf("aicr-bot")
    const requests = await run(client.verdicts?.requests(repo, 1) ?? Effect.succeed([]))
    expect(requests).toHaveLength(kind === "gitlab" ? 0 : 1)
  })
})

describe.each([
  ["github", "github_pr_review"],
  ["gitlab", "gitlab_mr_review"]
] as const)("comments on commits of %s", (kind, name) => {
  it("are found under another name", async () => {
    const here = await startHost(kind)
    const { client, pull, repo } = here
    await run(client.commitComments?.create(repo, pull.head, `text of ${name}`) ?? Effect.void)
    here.forge.renameSelf("aicr-bot")
    await run(client.self)
    expect(await run(client.commitComments?.find(repo, pull.head, name) ?? Effect.undefined)).toBeDefined()
    await here.forge.stop()
  })
})
