/** People delete and edit what the service wrote: a deletion by a maintainer is a dismissal, and no text of a person is lost. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMarkers } from "../../../src/outputs/Marker.ts"
import { noRecords, Records } from "../../../src/outputs/Records.ts"
import type { TouchedComment } from "../../../src/outputs/Records.ts"
import { file, repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { makeChannelContext, orDie, publishAll } from "../Publishing.ts"
import { listSummaries } from "../../harness/Summaries.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const kinds = {
  gitea: "gitea_pr_review",
  forgejo: "gitea_pr_review",
  github: "github_pr_review",
  gitlab: "gitlab_mr_review"
} as const
const at = (n: number, line: number): Finding => finding(n, { file }, { path: file, side: "new", line })
const both = [at(1, 20), at(2, 29)]
const deletedBy = (...people: ReadonlyArray<string>): ReadonlyArray<TouchedComment> =>
  people.map((by) => ({ by, action: "deleted", at: 1 }))

describe.each(ForgeKind.literals)("comments of the service on %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const begin = async (author: "write" | "read" = "write") => {
    const here = await startHost(kind)
    host = here
    here.forge.setPermission(repoName, "ann", "write")
    here.forge.setPermission(repoName, "dana", author)
    const history: Array<Publication> = []
    let reviews = 0
    const review = async (findings: ReadonlyArray<Finding>, touched: ReadonlyArray<TouchedComment> = []) => {
      const files = { [`n${reviews}.txt`]: "x\n" }
      await here.forge.push(repoName, { branch: "feature/x", message: "more", files })
      const { head } = here.pull
      return publishAll(
        { forge: here.forge, kind: table[kinds[kind]], channel: channel({ kind: kinds[kind] }), history, touched },
        input(findings, {
          runId: `run-${++reviews}`,
          change: { ...change, provider: kind, head, author: { username: "dana" } },
          head,
          workspace: workspace({}, { output_language: "en" }),
          analysis: analysis(findings, { coverage: { reviewed: [file], skipped: [], lines: 3 } })
        })
      )
    }
    const comments = () => here.pull.reviews.flatMap((one) => one.comments)
    const existing = () => comments().map(({ body }) => Number(`0x${parseMarkers(body)[0]?.fp}`))
    /** Deletes the comment of the first problem. */
    const remove = () => {
      for (const one of here.pull.reviews) {
        const index = one.comments.findIndex(({ body }) => parseMarkers(body)[0]?.fp === at(1, 20).fingerprint)
        if (index >= 0) one.comments.splice(index, 1)
      }
    }
    const summary = () => listSummaries(here.pull)[0] ?? { body: "" }
    return { here, history, review, comments, existing, remove, summary }
  }

  it("deleted by a maintainer dismiss the problem: it is not written again, and counts as dismissed", async () => {
    const { remove, review, existing, summary } = await begin()
    await review(both)
    remove()
    const sent = await review([...both, at(3, 30)], deletedBy("ann"))
    expect(existing()).toEqual([2, 3])
    expect(summary().body).toContain("**2 problems found: 2 medium** · 1 new · 1 dismissed")
    const threads = sent.find(({ operation }) => operation._tag === "Threads")
    expect(threads?.reactions?.filter(({ dismissed }) => dismissed)).toEqual([
      { fp: at(1, 20).fingerprint, dismissed: true, by: "maintainer", replied: false }
    ])
    await review(both, deletedBy("ann"))
    expect(existing()).toEqual([2, 3])
  })

  it("deleted by a maintainer count as dismissed before the next review is planned", async () => {
    const { here, history, remove, review } = await begin()
    await review(both)
    remove()
    const given = input(both, { change: { ...change, provider: kind }, head: here.pull.head })
    const setup = { forge: here.forge, kind: table[kinds[kind]], channel: channel({ kind: kinds[kind] }) }
    const present = both.map(({ fingerprint }) => fingerprint)
    const reader = { runId: "run-2", targetKey: given.targetKey, channel: setup.channel.name, present }
    const read = setup.kind.reactions?.(makeChannelContext(setup, given, here.client), reader)
    const records = {
      ...noRecords,
      reviews: () => Effect.succeed(history),
      touched: () => Effect.succeed(deletedBy("ann"))
    }
    const reactions = await run(orDie(read ?? Effect.succeed([])).pipe(Effect.provideService(Records, records)))
    expect(reactions.map(({ dismissed, fp }) => [Number(`0x${fp}`), dismissed])).toEqual([
      [2, false],
      [1, true]
    ])
  })

  it.each<[string, "write" | "read", ReadonlyArray<string>, ReadonlyArray<number>]>([
    ["the author", "write", ["dana"], [2, 1]],
    ["the author and a maintainer", "write", ["ann", "dana"], [2, 1]],
    ["a person without the permission", "write", ["eve"], [2, 1]],
    ["somebody, where the author may write", "write", [], [2, 1]],
    ["somebody, where the author may not write", "read", [], [2]]
  ])("deleted by %s", async (_, permission, people, expected) => {
    const { remove, review, existing } = await begin(permission)
    await review(both)
    remove()
    await review(both, deletedBy(...people))
    expect(existing()).toEqual(expected)
  })

  it("that the host refused at their line are not deleted ones", async () => {
    const { review, existing } = await begin("read")
    await review([at(1, 3), at(2, 29)])
    expect(existing()).toEqual([2])
    await review(both)
    expect(existing()).toEqual([2, 1])
  })

  it("at lines that a person rewrote are neither posted again nor changed", async () => {
    const { comments, review } = await begin()
    await review(both)
    const [first] = comments()
    if (first === undefined) throw new Error("no comment")
    getThread(first).body = "Not a problem: see the wiki"
    await review(both)
    expect(comments()).toHaveLength(2)
    await review([at(2, 29)])
    expect(comments()).toHaveLength(2)
    expect(getThread(first)).toMatchObject({ body: "Not a problem: see the wiki", resolver: undefined })
  })

  it("keep what a person wrote below the summary, and say when an edit of it was replaced", async () => {
    const { review, summary } = await begin()
    await review(both)
    const edited: ReadonlyArray<TouchedComment> = [{ by: "ann", action: "edited", at: 1.5 }]
    summary().body += "\n\nDana, please look at this first."
    for (const findings of [both, [at(2, 29)]]) {
      await review(findings, edited)
      expect(summary().body).toMatch(/-->\n\nDana, please look at this first\.$/)
      expect(summary().body).not.toContain("replaced")
    }
    summary().body = "All is well"
    await review(both, [...edited, { by: "ann", action: "edited", at: 3.5 }])
    expect(summary().body).toContain("This review replaced what `ann` edited in this comment.")
    expect(summary().body).not.toContain("All is well")
    await review(both, [...edited, { by: "ann", action: "edited", at: 3.5 }])
    expect(summary().body).not.toContain("This review replaced")
  })

  it("name a bounded number of the people who edited them, whatever the host reports", async () => {
    const { review, summary } = await begin()
    await review(both)
    summary().body = "All is well"
    const crowd = Array.from({ length: 5000 }, (_, n) => ({ by: `person-${n}`, action: "edited", at: 1.5 }) as const)
    await review(both, crowd)
    expect(summary().body).toMatch(/replaced what (`person-\d`, ){10}… edited in this comment/)
    expect(summary().body).toContain("<!-- aicr:v1 ")
  })

  it("cost no request while they are unchanged, nor do edits of the service", async () => {
    const count = async (touched: ReadonlyArray<TouchedComment>) => {
      const { here, review } = await begin()
      await review(both)
      const before = here.forge.requests.length
      await review([...both, at(3, 30)], touched)
      const { length } = here.forge.requests
      await here.forge.stop()
      return length - before
    }
    const [none, own] = [await count([]), await count([{ by: "aicr", action: "edited", at: 1.5 }])]
    expect(own).toBe(none)
  })
})
