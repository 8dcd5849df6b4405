/**
 * The same shelf as people read it in Swarm after it was shelved, after another shelve, after a repair, after a person verified the task of a
 * finding, and after an objection withdrew one. No number contradicts another, no sentence is repeated, and nothing is posted without news.
 */
import { afterEach, beforeEach, expect, it } from "vitest"
import type { Finding } from "../../../src/domain/Problem.ts"
import { startFakeSwarm } from "../../harness/FakeSwarm.ts"
import type { FakeSwarm } from "../../harness/FakeSwarm.ts"
import { analysis, finding } from "../Fixtures.ts"
import { makeChannel, makeDocument, markInSwarm, path, shelved, swarmPublisher } from "./PublishSwarm.ts"

let swarm: FakeSwarm
beforeEach(async () => {
  swarm = await startFakeSwarm()
  const versions = [{ change: 7, archiveChange: 71, pending: true }]
  swarm.reviews.push({ id: 70, changes: [7, 71], commits: [], state: "needsReview", versions })
})
afterEach(async () => {
  swarm.expectContract()
  await swarm.stop()
})

const at = (n: number, line: number, problem: Partial<Finding["problem"]>): Finding =>
  finding(n, { file: path, ...problem }, { path, side: "new", line })
const overflow = at(1, 20, {
  severity: "critical",
  title: "The last line is read past the end",
  message: "The sum has a value that no line has. Compare with `<`.",
  quote: "for (int i = 0; i <= n; i++)",
  suggestion: "for (int i = 0; i < n; i++)"
})
const secret = at(2, 29, { severity: "high", title: "A key is in the code", message: "Read it from the environment." })
const name = at(3, 24, { severity: "low", title: "The name is unclear", message: "Name it after what it holds." })
const leak = at(4, 30, { severity: "medium", title: "The file stays open", message: "Close it on every path." })
const titles = /The last line is read|A key is in the code|The name is unclear|The file stays open/g

/** Removes what only programs read, and what differs from run to run. */
const readable = (body: string): string =>
  body
    .replace(/^\[\/\/\]: # \(.*\)$/gm, "")
    .replace(/7-[0-9a-f]{12}|7-[0-9a-f]{10}/g, "HEAD")
    .replaceAll(swarm.url, "http://swarm")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

it("has one list with the same numbers after each round, and no comment without news", async () => {
  const document = makeDocument(makeChannel(swarm))
  const publish = swarmPublisher(document)
  const texts: Array<string> = []
  const posts: Array<number> = []
  const numbers: Array<ReadonlyMap<string, string>> = []
  const known = new Set<string>()
  let round = 0
  /** Publishes a review; the order of its comments is that of the severities. */
  const review = async (title: string, findings: ReadonlyArray<Finding>, ruled: ReadonlyArray<Finding> = []) => {
    round++
    const before = swarm.comments.length
    const settled = findings.map((one): Finding => {
      const isKnown = known.has(one.fingerprint)
      known.add(one.fingerprint)
      return { ...one, round: isKnown ? { kind: "carried", since: 1 } : { kind: "new", since: round } }
    })
    const rows = await publish({ ...shelved, head: `7-${String(round).repeat(12)}` }, settled, {
      analysis: analysis(settled, {
        round: { number: round, key: "k", read: [], reported: [] },
        coverage: { reviewed: [path], skipped: [], lines: 3 },
        summary: "- `src`: sums the lines of an invoice, so that the total is right.",
        facts: { files: 1, additions: 40, deletions: 2, riskiest: [path], tests: 0, names: [] },
        ...(ruled.length === 0 ? {} : { dismissed: ruled.map(({ fingerprint }) => fingerprint) })
      })
    })
    posts.push(swarm.comments.length - before)
    const summary = readable(swarm.comments[0]?.body ?? "")
    texts.push(`===== ${title}: ${posts.at(-1)} comments\n\n${summary}`)
    const listed = rows.find(({ operation }) => operation._tag === "Summary")?.listed ?? []
    const lines = [...summary.matchAll(/^- \*\*(\d+)\*\* (~~)?/gm)]
    const states = new Map(listed.map(({ number, state }) => [String(number), state]))
    expect(lines.map(([, number]) => number).toSorted()).toEqual([...states.keys()].toSorted())
    for (const [, number = "", struck] of lines) expect(struck === undefined).toBe(states.get(number) === "open")
    const open = listed.filter(({ state }) => state === "open")
    const [, total, parts = "", others = ""] = /^\*\*(\d+) problems? found: ([^*]+)\*\*(.*)$/m.exec(summary) ?? []
    expect(Number(total)).toBe(open.length)
    expect(parts.split(", ").reduce((sum, part) => sum + Number.parseInt(part), 0)).toBe(open.length)
    for (const [, count, word] of others.matchAll(/(\d+) (fixed|dismissed|withdrawn)/g))
      expect(listed.filter(({ state }) => state === word)).toHaveLength(Number(count))
    const named = [...summary.matchAll(titles)].map(([text]) => text)
    expect(named).toEqual([...new Set(named)])
    numbers.push(new Map(listed.map(({ fp, number }) => [fp, String(number)])))
  }
  const taskOf = ({ problem: { title = "" } }: Finding) => {
    const comment = swarm.comments.find(({ body, context }) => context !== undefined && body.includes(title))
    if (comment === undefined) throw new Error(`no comment on ${title}`)
    return comment
  }

  await review("shelved", [overflow, secret, name])
  const first = swarm.comments.map(({ body }) => body).slice(1)
  await review("shelved again", [overflow, secret, leak, name])
  await review("repaired", [secret, leak, name])
  expect(taskOf(overflow).taskState).toBe("addressed")
  taskOf(secret).taskState = "verified"
  await review("dismissed", [secret, leak, name])
  const withdrawn = { fp: leak.fingerprint, head: "7-444444444444", state: "withdrawn", by: undefined } as const
  expect(await markInSwarm(document, shelved, withdrawn)).toBe(1)
  expect(taskOf(leak).taskState).toBe("addressed")
  await review("withdrawn", [secret, leak, name], [leak])
  expect(posts).toEqual([3, 1, 0, 0, 0])
  for (const listed of numbers) for (const [fp, number] of listed) expect(numbers.at(-1)?.get(fp)).toBe(number)
  const comments = first.map((body, index) => `===== comment ${index + 1}\n\n${readable(body)}`)
  await expect([...texts, ...comments].join("\n\n") + "\n").toMatchFileSnapshot("./rounds/swarm.txt")
})
