/** A request for changes is given, and lifted when a later head is clean. */
import { afterEach, describe, expect, it } from "vitest"
import type { Publication } from "../../../src/domain/Publication.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { file, repoName, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { analysis, change, channel, finding, input } from "../Fixtures.ts"
import { publishAll } from "../Publishing.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const rows = {
  gitea: table.gitea_pr_review,
  forgejo: table.gitea_pr_review,
  github: table.github_pr_review,
  gitlab: table.gitlab_mr_review
}
const located = finding(1, { file }, { path: file, side: "new", line: 20 })
const elsewhere = finding(2, { file }, null)

describe.each(["gitea", "forgejo", "github", "gitlab"] as const)("verdicts on %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const begin = async (settings: Parameters<typeof channel>[0] = {}) => {
    const here = await startHost(kind)
    host = here
    const history: Array<Publication> = []
    const review = async (findings: ReadonlyArray<typeof located>, coverage = {}) => {
      await here.forge.push(repoName, {
        branch: "feature/x",
        message: `head ${history.length}`,
        files: { [`n${history.length}.txt`]: "x\n" }
      })
      const { head } = here.pull
      await publishAll(
        {
          forge: here.forge,
          kind: rows[kind],
          channel: channel({ review_event: "REQUEST_CHANGES", ...settings }),
          history
        },
        input(findings, {
          runId: `run-${history.length}`,
          change: { ...change, provider: kind, head },
          head,
          analysis: analysis(findings, { coverage: { reviewed: [file], skipped: [], lines: 3, ...coverage } })
        })
      )
    }
    /** Requests for changes that count, and approvals. */
    const verdicts = () => {
      const sent = here.forge.requests.filter(({ method }) => method !== "GET")
      return {
        requests: here.pull.reviews.filter(({ state }) => /REQUEST_CHANGES|CHANGES_REQUESTED/.test(state)).length,
        dismissals: sent.filter(({ path }) => path.endsWith("/dismissals")).length,
        approvals: here.pull.reviews.filter(({ state }) => /^APPROVED?$/.test(state)).length
      }
    }
    return { here, review, verdicts }
  }

  const isHere = kind !== "gitlab"

  it("is given where no problem has a line", async () => {
    const { review, verdicts } = await begin()
    await review([elsewhere])
    expect(verdicts()).toEqual({ requests: isHere ? 1 : 0, dismissals: 0, approvals: 0 })
  })

  it("is dismissed by a clean later head, once", async () => {
    const { review, verdicts } = await begin()
    await review([located])
    await review([])
    await review([])
    expect(verdicts()).toMatchObject({ dismissals: isHere ? 1 : 0, approvals: 0 })
  })

  it("is followed by an approval where the channel is configured for it", async () => {
    const { review, verdicts } = await begin({ review_approve: "when_clean" })
    await review([])
    expect(verdicts()).toEqual({ requests: 0, dismissals: 0, approvals: 0 })
    await review([located])
    await review([])
    expect(verdicts()).toMatchObject({ dismissals: 0, approvals: isHere ? 1 : 0 })
  })

  it("stays while a review is not clean, or did not read everything", async () => {
    const { review, verdicts } = await begin()
    await review([located])
    await review([elsewhere])
    await review([], { skipped: [{ path: "b.ts", reason: "max_files", unread: true }] })
    expect(verdicts()).toMatchObject({ dismissals: 0, approvals: 0 })
  })

  it("of a person with the same account is left alone", async () => {
    const { here, review, verdicts } = await begin()
    if (kind === "gitlab") return
    here.pull.reviews.push({
      id: 4711,
      user: here.forge.user("aicr"),
      state: "REQUEST_CHANGES",
      body: "By hand",
      commit: here.pull.head,
      createdAt: "2026-01-01T00:00:00Z",
      comments: []
    })
    await review([])
    expect(verdicts()).toMatchObject({ requests: 1, dismissals: 0 })
  })
})
