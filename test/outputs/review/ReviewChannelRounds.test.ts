/**
 * The same change as people read it at each host after it was opened, after a push, after a repair, after a dismissal, and after a finding of
 * the same review was withdrawn and reopened: one file for each host. No number contradicts another, and no sentence is repeated.
 */
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { file, repoName, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { markOn, publishAll } from "../Publishing.ts"
import type { PublishInput } from "../../../src/outputs/channels/Channel.ts"
import { listSummaries } from "../../harness/Summaries.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const kinds = {
  gitea: "gitea_pr_review",
  forgejo: "gitea_pr_review",
  github: "github_pr_review",
  gitlab: "gitlab_mr_review"
} as const

const at = (n: number, line: number, problem: Parameters<typeof finding>[1]): Finding =>
  finding(n, { file, ...problem }, { path: file, side: "new", line })

const overflow = at(1, 20, {
  severity: "critical",
  title: "The last line is read past the end",
  message: "`lines[i]` is `undefined` for `i === lines.length`, so the sum is `NaN`. Compare with `<`.",
  quote: "for (let i = 0; i <= lines.length; i++) {",
  suggestion: "for (let i = 0; i < lines.length; i++) {"
})
const secret = at(2, 29, {
  severity: "high",
  title: "A key is in the code",
  message: "Read it from the environment.",
  quote: 'const key = "k"'
})
const name = at(3, 24, {
  severity: "low",
  title: "The name says nothing",
  message: "Name it after what it holds.",
  quote: "const d = 1"
})
const leak = at(4, 30, {
  severity: "medium",
  title: "The file stays open",
  message: "Close it in `finally`.",
  quote: "open(path)"
})

const slow = at(5, 31, {
  severity: "medium",
  title: "The list is searched in a loop",
  message: "Use a set.",
  quote: "list.includes(one)"
})

/** Removes what only programs read, and what differs from run to run. */
const readable = (body: string, head: string): string =>
  body
    .replace(/<!--.*?-->/g, "")
    .replaceAll(head, "HEAD")
    .replaceAll(head.slice(0, 12), "HEAD")
    .replace(/http:\/\/(?:127\.0\.0\.1|localhost):\d+/g, "http://host")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

describe.each(ForgeKind.literals)("a change on %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    await host?.forge.stop()
    host = undefined
  })

  const begin = async () => {
    const here = await startHost(kind)
    host = here
    here.forge.setPermission(repoName, "ann", "write")
    const history: Array<Publication> = []
    const settings = channel({ kind: kinds[kind] })
    const said: Array<string> = []
    const read = (round: string, head: string, before: number) => {
      const posts = here.pull.comments.length + here.pull.reviews.length - before
      const summary = readable(listSummaries(here.pull).at(-1)?.body ?? "", head)
      const comments = here.pull.reviews.flatMap((one) => one.comments).map(({ body }) => readable(body, head))
      said.push(`===== ${round}: ${posts} posts\n\n${summary}`)
      return {
        summary,
        comments,
        posts,
        listed: history.findLast(({ operation }) => operation._tag === "Summary")?.listed ?? []
      }
    }
    let last: PublishInput | undefined
    const known = new Set<string>()
    const review = async (round: string, findings: ReadonlyArray<Finding>, late: ReadonlyArray<Finding> = []) => {
      await here.forge.push(repoName, {
        branch: "feature/x",
        message: round,
        files: { [`${history.length}.txt`]: "x\n" }
      })
      const { head } = here.pull
      const before = here.pull.comments.length + here.pull.reviews.length
      const number = history.filter(({ operation }) => operation._tag === "Summary").length + 1
      const settled = findings.map((one): Finding => {
        const isKnown = known.has(one.fingerprint)
        known.add(one.fingerprint)
        return { ...one, round: isKnown ? { kind: "carried", since: 1 } : { kind: "new", since: number } }
      })
      const given = input(settled, {
        runId: `run-${history.length}`,
        change: { ...change, provider: kind, head, url: "http://forge.test/team/shop/pulls/1" },
        head,
        workspace: workspace({}, { output_language: "en" }),
        guideUrl: "http://aicr.test/developers",
        analysis: analysis(settled, {
          round: { number, key: "k", read: [], reported: [] },
          ...(late.length === 0 ? {} : { late }),
          coverage: { reviewed: [file], skipped: [], lines: 3 },
          summary: "- `src`: sums the lines of an invoice, so that the total is right.",
          facts: { files: 1, additions: 40, deletions: 2, riskiest: [file], tests: 0, names: [] }
        })
      })
      last = given
      await publishAll({ forge: here.forge, kind: table[kinds[kind]], channel: settings, history }, given)
      return read(round, head, before)
    }
    /** Decides about a finding of the last review, and publishes its summary again. */
    const rule = async (
      round: string,
      { fingerprint }: Finding,
      state: "open" | "withdrawn",
      dismissed: ReadonlyArray<Finding>
    ) => {
      if (last === undefined) throw new Error("no review")
      const before = here.pull.comments.length + here.pull.reviews.length
      const setup = { forge: here.forge, kind: table[kinds[kind]], channel: settings, history }
      expect(await markOn(setup, last, fingerprint, state)).toBe(1)
      const given = {
        ...last,
        ruling: round,
        analysis: { ...last.analysis, dismissed: dismissed.map((one) => one.fingerprint) }
      }
      await publishAll({ ...setup, kinds: ["Summary"] }, given)
      return read(round, last.head, before)
    }
    const dismiss = (index: number) => {
      const comment = here.pull.reviews.flatMap((one) => one.comments)[index]
      if (comment === undefined) throw new Error(`no comment ${index}`)
      const thread = getThread(comment)
      if (kind === "github") thread.thumbsDown.push(here.forge.user("ann"))
      else thread.resolver = here.forge.user("ann")
    }
    return { review, dismiss, rule, said }
  }

  it("has one list with the same numbers after each round, and no post without news", async () => {
    const { dismiss, review, rule, said } = await begin()
    const opened = await review("opened", [overflow, secret, name])
    const pushed = await review("pushed", [overflow, secret, leak, name])
    const repaired = await review("repaired", [secret, leak, name], [slow])
    dismiss(1)
    const dismissed = await review("dismissed", [secret, leak, name])
    const withdrawn = await rule("withdrawn", leak, "withdrawn", [secret, leak])
    const reopened = await rule("reopened", leak, "open", [secret])
    const rounds = [opened, pushed, repaired, dismissed, withdrawn, reopened]
    expect(rounds.map(({ posts }) => posts)).toEqual([kind === "github" ? 1 : 2, 1, 0, 0, 0, 0])
    expect(withdrawn.listed.find(({ fp }) => fp === leak.fingerprint)?.state).toBe("withdrawn")
    expect(reopened.listed).toEqual(dismissed.listed)
    for (const { listed, summary } of rounds) {
      const rows = [...summary.matchAll(/^- \*\*(\d+)\*\* (~~)?/gm)]
      const states = new Map(listed.map(({ number, state }) => [String(number), state]))
      // Every finding is listed once, and struck out if it does not count.
      expect(rows.map(([, number]) => number).toSorted()).toEqual([...states.keys()].toSorted())
      for (const [, number = "", struck] of rows) expect(struck === undefined).toBe(states.get(number) === "open")
      const [, total, parts = "", others = ""] = /^\*\*(\d+) problems? found: ([^*]+)\*\*(.*)$/m.exec(summary) ?? []
      const open = listed.filter(({ state }) => state === "open")
      expect(Number(total)).toBe(open.length)
      expect(parts.split(", ").reduce((sum, part) => sum + Number.parseInt(part), 0)).toBe(open.length)
      for (const [, count, word] of others.matchAll(/(\d+) (fixed|dismissed|withdrawn)/g))
        expect(listed.filter(({ state }) => state === word)).toHaveLength(Number(count))
      const titles = [...summary.matchAll(/(?:The last line|A key is|The name says|The file stays)/g)].map(
        ([title]) => title
      )
      expect(titles).toEqual([...new Set(titles)])
    }
    const numbers = (listed: typeof opened.listed) => new Map(listed.map(({ fp, number }) => [fp, number]))
    for (const [fp, number] of numbers(opened.listed)) expect(numbers(dismissed.listed).get(fp)).toBe(number)
    const comments = opened.comments.map((body, index) => `===== comment ${index + 1}\n\n${body}`)
    await expect([...said, ...comments].join("\n\n") + "\n").toMatchFileSnapshot(`./rounds/${kind}.txt`)
  })
})
