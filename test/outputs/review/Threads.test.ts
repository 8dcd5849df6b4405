/** Comments at lines over several heads: posted once, resolved when gone, left alone when people replied or dismissed them. */
import { afterEach, describe, expect, it } from "vitest"
import type { Fault } from "../../../demo/DemoForge.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import type { PublishInput } from "../../../src/outputs/channels/Channel.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMarkers } from "../../../src/outputs/Marker.ts"
import { file, repoName, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { isWhole } from "../../harness/Samples.ts"
import type { FakeThread } from "../../harness/FakeThreads.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { markOn, publishAll } from "../Publishing.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { listSummaries } from "../../harness/Summaries.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const rows = {
  gitea: table.gitea_pr_review,
  forgejo: table.gitea_pr_review,
  github: table.github_pr_review,
  gitlab: table.gitlab_mr_review
}
/** Effects on a comment whose problem is gone: a note in it, a resolved thread, or both. */
const resolves = { gitea: ["note"], forgejo: ["note"], github: ["note", "thread"], gitlab: ["thread"] } as const
const at = (n: number, line: number): Finding => finding(n, { file }, { path: file, side: "new", line })

describe.each(ForgeKind.literals)("comments at lines on %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  /** A pull request and its reviews, one head after the other. */
  const begin = async () => {
    const here = await startHost(kind)
    host = here
    const history: Array<Publication> = []
    const review = async (
      findings: ReadonlyArray<Finding>,
      coverage: Partial<PublishInput["analysis"]["coverage"]> = {},
      more: Partial<PublishInput["analysis"]> = {},
      settings: Parameters<typeof workspace>[1] = {},
      own: Parameters<typeof channel>[0] = {}
    ) => {
      await here.forge.push(repoName, {
        branch: "feature/x",
        message: `head ${history.length}`,
        files: { [`n${history.length}.txt`]: "x\n" }
      })
      const { head } = here.pull
      return await publishAll(
        { forge: here.forge, kind: rows[kind], channel: channel(own), history },
        input(findings, {
          runId: `run-${history.length}`,
          change: { ...change, provider: kind, head },
          head,
          workspace: workspace(
            { templates: { own: "S\n\n{{summary.since}}" } },
            { output_language: "en", ...settings }
          ),
          analysis: analysis(findings, { coverage: { reviewed: [file], skipped: [], lines: 3, ...coverage }, ...more })
        })
      )
    }
    const comments = () => here.pull.reviews.flatMap((one) => one.comments)
    /** Each inline comment: its problem and its state. */
    const stand = () =>
      comments().map((comment) => {
        const thread = getThread(comment)
        const said = parseMarkers(thread.body ?? "").some(({ state }) => state === "resolved")
        const resolved = resolves[kind].every((by) => (by === "note" ? said : thread.resolver?.login === "aicr"))
        return `${Number(`0x${parseMarkers(comment.body)[0]?.fp}`)}${resolved ? " resolved" : ""}`
      })
    const thread = (index: number) => {
      const comment = comments()[index]
      if (comment === undefined) throw new Error(`no comment ${index}`)
      return getThread(comment)
    }
    here.forge.setPermission(repoName, "ann", "write")
    here.forge.setPermission(repoName, "eve", "read")
    here.forge.setPermission(repoName, "dana", "write")
    const dismiss = (one: FakeThread, login: string) => {
      if (kind === "github") one.thumbsDown.push(here.forge.user(login))
      else one.resolver = here.forge.user(login)
    }
    return { here, review, stand, thread, dismiss }
  }

  it("are posted once, resolved when gone, and posted again when they return", async () => {
    const { review, stand } = await begin()
    await review([at(1, 20), at(2, 29)])
    await review([at(1, 20), at(2, 29)])
    expect(stand()).toEqual(["1", "2"])
    await review([at(2, 29)])
    expect(stand()).toEqual(["1 resolved", "2"])
    await review([at(1, 20), at(2, 29)])
    expect(stand()).toEqual(["1 resolved", "2", "1"])
  })

  it("are resolved when the change no longer touches their file, and kept when the file was only skipped", async () => {
    const { review, stand } = await begin()
    await review([at(1, 20)])
    await review([], { reviewed: [], skipped: [{ path: file, reason: "budget" }] })
    expect(stand()).toEqual(["1"])
    await review([], { reviewed: [file] }, { skipped: verbatimReason("nothing to do") })
    expect(stand()).toEqual(["1"])
    await review([], { reviewed: ["other.ts"] })
    expect(stand()).toEqual(["1 resolved"])
  })

  it("are named as new, still open, resolved, outdated or dismissed in a template of the operator", async () => {
    const { here, review: publish, thread, dismiss } = await begin()
    const review = (findings: ReadonlyArray<Finding>, coverage: Parameters<typeof publish>[1] = {}) =>
      publish(findings, coverage, {}, {}, { templates: { summary: "own" } })
    const summary = () => listSummaries(here.pull).at(-1)?.body ?? ""
    const since = () => (/\*\*Since the last review:\*\* (.*)\n\n((?:- .*\n)*)/.exec(summary()) ?? []).slice(1)
    const unplaced = { ...at(7, 1), anchor: undefined }
    const { anchor: _anchor, ...listed } = unplaced
    await review([at(1, 20), at(2, 29), listed])
    expect(since()).toEqual([])
    expect(summary()).not.toContain("aicr-since")
    await review([at(2, 29), at(3, 30), listed])
    expect(since()).toEqual([
      "1 new · 2 still open · 1 resolved",
      [
        `- new: Title 3 · \`${file}\``,
        `- still open: Title 2 · \`${file}\``,
        `- still open: Title 7 · \`${file}\``,
        `- resolved: Title 1 · \`${file}\``,
        ""
      ].join("\n")
    ])
    dismiss(thread(1), "ann")
    await review([at(1, 20), at(2, 29)], { reviewed: ["other.ts"] })
    expect(since()[0]).toBe("1 new · 2 outdated · 1 dismissed")
  })

  it("are left alone when a person replied", async () => {
    const { here, review, stand, thread } = await begin()
    await review([at(1, 20), at(2, 29)])
    thread(0).answers.push({ user: here.forge.user("dana"), body: "I disagree" })
    await review([])
    expect(stand()).toEqual(["1", "2 resolved"])
  })

  it("are not posted again when a person dismissed them", async () => {
    const { review, stand, thread, dismiss } = await begin()
    await review([at(1, 20), at(2, 29)])
    dismiss(thread(0), "ann")
    await review([at(1, 20), at(2, 29), at(3, 30)])
    expect(stand()).toEqual(["1", "2", "3"])
  })

  it("are not posted again when a person dismissed them from chat, and say so", async () => {
    const { here, review, stand, thread } = await begin()
    await review([at(1, 20), at(2, 29)])
    const given = input([], {
      change: { ...change, provider: kind, head: here.pull.head },
      head: here.pull.head,
      workspace: workspace({}, { output_language: "en" })
    })
    const setup = { forge: here.forge, kind: rows[kind], channel: channel() }
    expect(await markOn(setup, given, at(1, 20).fingerprint)).toBe(1)
    const writes = here.forge.writes().length
    expect(await markOn(setup, given, at(1, 20).fingerprint)).toBe(1)
    expect(await markOn(setup, given, at(9, 20).fingerprint)).toBe(0)
    expect(here.forge.writes()).toHaveLength(writes)
    expect(thread(0).body).toContain("Dismissed by ann")
    expect(thread(0).resolver?.login).toBe(kind === "gitea" || kind === "forgejo" ? undefined : "aicr")
    const sent = await review([at(1, 20), at(2, 29)])
    expect(stand().map((one) => one.split(" ")[0])).toEqual(["1", "2"])
    expect(listSummaries(here.pull).at(-1)?.body).toContain("**1 problem found: 1 medium** · 1 dismissed")
    expect(sent.flatMap(({ reactions }) => reactions ?? [])).toContainEqual({
      fp: at(1, 20).fingerprint,
      dismissed: true,
      by: "maintainer",
      replied: false
    })
  })

  it("count again when they are reopened, although a person dismissed them at the host, until they are dismissed once more", async () => {
    const { dismiss, here, review, thread } = await begin()
    await review([at(1, 20), at(2, 29)])
    const original = here.pull.reviews[0]?.comments[0]?.body
    dismiss(thread(0), "ann")
    const given = input([], {
      change: { ...change, provider: kind, head: here.pull.head },
      head: here.pull.head,
      workspace: workspace({}, { output_language: "en" })
    })
    const setup = { forge: here.forge, kind: rows[kind], channel: channel() }
    const summary = () => listSummaries(here.pull).at(-1)?.body
    expect(await markOn(setup, given, at(1, 20).fingerprint, "open")).toBe(1)
    expect(thread(0).body).toMatch(/\*\*Reopened by ann\.\*\*\n\n<!-- aicr:v1 .*-->$/)
    // Gitea and Forgejo keep who resolved the conversation.
    expect(thread(0).resolver === undefined).toBe(kind === "gitlab" || kind === "github")
    await review([at(1, 20), at(2, 29)])
    expect(summary()).toContain("**2 problems found: 2 medium**")
    expect(await markOn(setup, given, at(1, 20).fingerprint, "withdrawn")).toBe(1)
    expect(thread(0).body).toContain("Withdrawn: an objection")
    expect(thread(0).body).not.toContain("Reopened")
    expect(thread(0).body?.startsWith(original ?? "-")).toBe(true)
    await review([at(1, 20), at(2, 29)])
    expect(summary()).toContain("**1 problem found: 1 medium** · 1 withdrawn")
  })

  it.each([
    ["eve", "who may only read"],
    ["dana", "who wrote the change, and may write"]
  ])("stay open when they are dismissed by %s, %s, which the summary reports", async (login) => {
    const { here, review, thread, dismiss } = await begin()
    const summary = () => listSummaries(here.pull).at(-1)?.body
    await review([at(1, 20), at(2, 29)])
    dismiss(thread(0), login)
    const sent = await review([at(1, 20), at(2, 29)])
    const ignored = [{ fp: at(1, 20).fingerprint, file, by: [login] }]
    expect(sent.map(({ operation, ignoredDismissals }) => [operation._tag, ignoredDismissals])).toContainEqual([
      "Summary",
      ignored
    ])
    expect(summary()).toContain("**2 problems found: 2 medium**\n")
    expect(summary()).toContain(` · \`${file}\`:20 · dismissed without permission: \`${login}\`\n`)
  })

  it("report the reactions of people for the outcomes of their problems", async () => {
    const { here, review, thread, dismiss } = await begin()
    const first = await review([at(1, 20), at(2, 29), at(3, 30)])
    expect(first.flatMap(({ reactions }) => reactions ?? [])).toEqual([])
    dismiss(thread(0), "ann")
    thread(1).answers.push({ user: here.forge.user("dana"), body: "I disagree" })
    const sent = await review([at(1, 20), at(2, 29), at(3, 30)])
    expect(sent.find(({ operation }) => operation._tag === "Threads")?.reactions).toEqual([
      { fp: at(1, 20).fingerprint, dismissed: true, by: "maintainer", replied: false },
      { fp: at(2, 29).fingerprint, dismissed: false, replied: true },
      { fp: at(3, 30).fingerprint, dismissed: false, replied: false }
    ])
  })

  it("are dismissed by any account where the workspace allows it", async () => {
    const { here, review, thread, dismiss } = await begin()
    await review([at(1, 20), at(2, 29)])
    dismiss(thread(0), "eve")
    await review([at(1, 20), at(2, 29)], {}, {}, { dismissal: "anyone" })
    expect(listSummaries(here.pull).at(-1)?.body).toContain("**1 problem found: 1 medium** · 1 dismissed")
  })

  it("cost a first review a few reads: comments without records may exist", async () => {
    const { here, review } = await begin()
    await review([at(1, 20)])
    const reads = here.forge.requests.filter(
      ({ method, path }) => method === "GET" && /discussions|reviews|pulls\/\d+\/comments/.test(path)
    )
    expect(reads.length).toBeLessThanOrEqual(3)
  })

  const listed = {
    gitea: /pulls\/1\/reviews$/,
    forgejo: /pulls\/1\/reviews$/,
    github: /pulls\/1\/comments$/,
    gitlab: /discussions$/
  }
  const looks = (here: Host, from: number) =>
    here.forge.requests.slice(from).filter(({ method, path }) => method === "GET" && listed[kind].test(path)).length

  it.each<[string, ReadonlyArray<Finding>]>([
    ["says something new", [at(2, 29), at(3, 30)]],
    ["repeats what stands", [at(1, 20), at(2, 29)]],
    ["finds nothing", []]
  ])("are read once by a later review that %s", async (_, found) => {
    const { here, review, stand } = await begin()
    await review([at(1, 20), at(2, 29)])
    const before = here.forge.requests.length
    await review(found)
    expect(looks(here, before)).toBe(1)
    expect(stand()[0]).toBe(found.length === 2 && found[0]?.anchor?.line === 20 ? "1" : "1 resolved")
  })

  it("are read once by a later review in several parts, and again by the one after it", async () => {
    const { here, review, stand } = await begin()
    const many = Array.from({ length: 31 }, (_, index) => at(index + 10, 20))
    await review([at(1, 20)])
    const before = here.forge.requests.length
    await review(many, {}, {}, {}, { max_comments: 31 })
    expect(looks(here, before)).toBe(1)
    const between = here.forge.requests.length
    await review(many, {}, {}, {}, { max_comments: 31 })
    expect(looks(here, between)).toBe(1)
    expect(stand()).toEqual(["1 resolved", ...many.map((_, index) => String(index + 10))])
  })

  const faults: ReadonlyArray<readonly [string, Fault]> = [
    ["lost", fault.lost],
    ["cut", fault.cut],
    ["500", fault.broken],
    ["503", fault.unavailable],
    ["429", fault.tooMany("0")]
  ]
  // Each request fails with one of the faults; with AICR_TEST_FAULTS=all with each of them.
  const stride = isWhole("AICR_TEST_FAULTS") ? 1 : faults.length
  it.each(faults)("end up the same when %s happens at any request", async (name, thrown) => {
    const begins = 1 + (faults.findIndex(([one]) => one === name) % stride)
    for (let step = begins, all = step; step <= all; step += stride) {
      const { here, review, stand, thread } = await begin()
      await review([at(1, 20), at(2, 29)])
      let seen = 0
      here.forge.intercept(() => (++seen === step ? thrown : undefined))
      await review([at(2, 29), at(3, 30)])
      all = seen
      expect(stand()).toEqual(["1 resolved", "2", "3"])
      expect(listSummaries(here.pull)).toHaveLength(1)
      // GitLab resolves it again after a lost response, and Gitea never: only GitHub reports in advance whether it is resolved.
      expect(kind === "github" ? thread(0).timesResolved : 1).toBe(1)
      here.forge.expectContract()
      await here.forge.stop()
      host = undefined
    }
  })
})
