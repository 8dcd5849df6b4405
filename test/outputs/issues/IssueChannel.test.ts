/** Managed issues on every host: raised once, kept, resolved, reopened and dismissed, whatever goes wrong at whatever step. */
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { CheckedCode } from "../../../src/domain/IssueCode.ts"
import type { Fault } from "../../../demo/DemoForge.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import type { PublishInput } from "../../../src/outputs/channels/Channel.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMarkers } from "../../../src/outputs/Marker.ts"
import { file, repoName, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { isWhole } from "../../harness/Samples.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { markOn, publishAll } from "../Publishing.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const kinds = {
  gitea: "gitea_problem_issue",
  forgejo: "gitea_problem_issue",
  github: "github_problem_issue",
  gitlab: "gitlab_problem_issue"
} as const

const at = (n: number, line: number, more: Partial<Finding["problem"]> = {}): Finding =>
  finding(n, { file, ...more }, { path: file, side: "new", line })
/** The review found that files no longer have the code of problems without a key; these problems have none. */
const gone = (paths: ReadonlyArray<string>): ReadonlyArray<CheckedCode> =>
  paths.map((path) => ({ file: path, state: "gone" }))
const read = (paths: ReadonlyArray<string>) => ({
  coverage: { reviewed: paths, skipped: [], lines: 3 },
  checked: gone(paths)
})

describe.each(ForgeKind.literals)("managed issues on %s", (kind) => {
  let host: Host | undefined
  const start = async (): Promise<Host> => (host = await startHost(kind))
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const given = (
    here: Host,
    findings: ReadonlyArray<Finding>,
    paths: ReadonlyArray<string> = [file],
    more: Partial<PublishInput> = {}
  ): PublishInput =>
    input(findings, {
      change: { ...change, provider: kind, head: here.pull.head, baseRef: "main" },
      head: here.pull.head,
      analysis: analysis(findings, read(paths)),
      ...more
    })
  const own = (settings: Parameters<typeof channel>[0] = {}) =>
    channel({ name: "issues", kind: kinds[kind], ...settings })
  const setup = (here: Host, settings: Parameters<typeof channel>[0] = {}) => ({
    forge: here.forge,
    kind: table[kinds[kind]],
    channel: own({ assign_committer: false, ...settings })
  })
  const stand = (here: Host) =>
    here.forge.issues(repoName).issues.map(
      ({ state, body }) =>
        `${state} ${parseMarkers(body)
          .flatMap(({ fp, file: of }) => (of === undefined || fp === undefined ? [] : [Number(`0x${fp}`)]))
          .join("+")}`
    )

  it("raises each problem once, keeps it, resolves it and reopens it", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20), at(2, 29)]))
    expect(stand(here)).toEqual(["open 1", "open 2"])
    const [first] = here.forge.issues(repoName).issues
    expect(first?.title).toBe(`[AICR] Title 1 (${file})`)
    expect(first?.body).toContain("Message 1")

    const before = here.forge.writes().length
    await publishAll(to, given(here, [at(1, 20), at(2, 29)], [file], { head: "b".repeat(40) }))
    expect(here.forge.writes()).toHaveLength(before)

    await publishAll(to, given(here, [at(2, 29)], [file], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1", "open 2"])
    expect(first?.body).toContain("Resolved: the file no longer contains this code at cccccccccccc.")

    await publishAll(to, given(here, [at(1, 20)], [], { head: "d".repeat(40) }))
    expect(stand(here)).toEqual(["open 1", "open 2"])
    expect(first?.body).not.toContain("Resolved")
  })

  it("does not raise an issue again that a person closed", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20)]))
    const [issue] = here.forge.issues(repoName).issues
    if (issue === undefined) throw new Error("no issue")
    issue.state = "closed"
    await publishAll(to, given(here, [at(1, 20), at(2, 29)], [file], { head: "b".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1", "open 2"])
  })

  it("does not raise an issue again that a person deleted or rewrote", async () => {
    const here = await start()
    const history: Array<Publication> = []
    const to = {
      ...setup(here, { resolved_action: kind.startsWith("git") && kind !== "gitea" ? "close" : "delete" }),
      history
    }
    const fake = here.forge.issues(repoName)
    const next = (run: number) => ({ head: String(run).repeat(40), runId: `run-${run}` })
    await publishAll(to, given(here, [at(1, 20), at(2, 29), at(3, 30)]))
    const [deleted, rewritten] = fake.issues
    if (deleted === undefined || rewritten === undefined) throw new Error("no issues")
    fake.issues.splice(0, 1)
    rewritten.body = "My own words"
    await publishAll(to, given(here, [at(1, 20), at(2, 29), at(3, 30), at(4, 20)], [], next(2)))
    expect(stand(here)).toEqual(["open ", "open 3", "open 4"])
    await publishAll(to, given(here, [at(3, 30)], [file], next(3)))
    expect(rewritten.body).toBe("My own words")
    const open = () => stand(here).filter((issue) => issue.startsWith("open"))
    expect(open()).toEqual(["open ", "open 3"])
    // The service itself deleted or closed this one, so its problem is raised again.
    await publishAll(to, given(here, [at(3, 30), at(4, 20)], [], next(4)))
    expect(open()).toEqual(["open ", "open 3", "open 4"])
    const joined = { ...setup(here, { name: "joined", issue_mode: "consolidated" }), history }
    await publishAll(joined, given(here, [at(1, 20), at(2, 29)], [], next(5)))
    expect(open().at(-1)).toBe("open 1+2")
    fake.issues.pop()
    await publishAll(joined, given(here, [at(1, 20), at(2, 29)], [], next(6)))
    expect(open()).toEqual(["open ", "open 3", "open 4"])
  })

  it("keeps what a person wrote below the problem when it resolves and reopens the issue", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20)]))
    const [issue] = here.forge.issues(repoName).issues
    if (issue === undefined) throw new Error("no issue")
    issue.body = `${issue.body}\n\nSeen in production.\n\nTwice.`
    await publishAll(to, given(here, [], [file], { head: "b".repeat(40) }))
    expect(issue.body).toContain("Twice.\n\n**Resolved")
    await publishAll(to, given(here, [at(1, 20)], [], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(["open 1"])
    expect(issue.body).toMatch(/Seen in production\.\n\nTwice\.$/)
    expect(issue.body).not.toContain("Resolved")
  })

  it("does not raise an issue again that a person dismissed from chat, and keeps one that holds several problems", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20), at(2, 29)]))
    const english = given(here, [], [file], { workspace: workspace({}, { output_language: "en" }) })
    expect(await markOn(to, english, at(1, 20).fingerprint)).toBe(1)
    expect(stand(here)).toEqual(["closed 1", "open 2"])
    expect(here.forge.issues(repoName).issues[0]?.body).toContain("Dismissed by ann")
    const writes = here.forge.writes().length
    expect(await markOn(to, english, at(1, 20).fingerprint)).toBe(1)
    await publishAll(to, given(here, [at(1, 20), at(2, 29)], [file], { head: "b".repeat(40) }))
    expect(here.forge.writes()).toHaveLength(writes)
    expect(await markOn(to, english, at(1, 20).fingerprint, "open")).toBe(1)
    expect(stand(here)).toEqual(["open 1", "open 2"])
    expect(here.forge.issues(repoName).issues[0]?.body).toContain("Reopened by ann")
    const joined = setup(here, { name: "joined", issue_mode: "consolidated" })
    await publishAll(joined, given(here, [at(1, 20), at(2, 29)]))
    expect(await markOn(joined, english, at(1, 20).fingerprint)).toBe(0)
  })

  it("resolves nothing because its file was read again, and nothing after a skipped review", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20)]))
    await publishAll(to, given(here, [], ["other.ts"], { head: "b".repeat(40) }))
    const writes = here.forge.writes().length
    const coverage = { reviewed: [file], skipped: [], lines: 3 }
    const unchecked = { analysis: analysis([], { coverage }), head: "c".repeat(40) }
    await publishAll(to, given(here, [], [], unchecked))
    const skipped = {
      analysis: analysis([], { skipped: verbatimReason("nothing to do"), coverage }),
      head: "d".repeat(40)
    }
    await publishAll(to, given(here, [], [], skipped))
    expect(stand(here)).toEqual(["open 1"])
    expect(here.forge.writes()).toHaveLength(writes)
  })

  it("resolves an issue whose code is gone after a change that only deletes or moves files", async () => {
    const here = await start()
    const to = setup(here)
    const other = finding(3, { file: "b.ts" }, { path: "b.ts", side: "new", line: 1 })
    await publishAll(to, given(here, [at(1, 20), other]))
    const checked: ReadonlyArray<CheckedCode> = [...gone([file]), { file: "b.ts", state: "moved", to: "c.ts" }]
    const skipped = { analysis: analysis([], { skipped: { _tag: "OnlyMoved" }, checked }), head: "b".repeat(40) }
    await publishAll(to, given(here, [], [], skipped))
    expect(stand(here)).toEqual(["closed 1", "open 3"])
    expect(here.forge.issues(repoName).issues.map(({ body }) => parseMarkers(body)[0]?.file)).toEqual([file, "c.ts"])
    await publishAll(to, given(here, [], ["b.ts"], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1", "open 3"])
    await publishAll(to, given(here, [], ["c.ts"], { head: "d".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1", "closed 3"])
  })

  it("identifies a problem of renamed code by its code, and raises it once", async () => {
    const here = await start()
    const to = setup(here)
    const code = "+9.1f.0123456789abcdef"
    await publishAll(to, given(here, [{ ...at(1, 20), code }], []))
    const moved: ReadonlyArray<CheckedCode> = [{ file, code, state: "moved", to: "c.ts" }]
    await publishAll(to, given(here, [], [], { analysis: analysis([], { checked: moved }), head: "b".repeat(40) }))
    const renamed = { ...finding(7, { file: "c.ts" }, { path: "c.ts", side: "new", line: 1 }), code }
    await publishAll(to, given(here, [renamed], [], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(["open 1"])
    const ended: ReadonlyArray<CheckedCode> = [{ file: "c.ts", code, state: "gone" }]
    await publishAll(to, given(here, [], [], { analysis: analysis([], { checked: ended }), head: "d".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1"])
    await publishAll(to, given(here, [renamed], [], { head: "e".repeat(40) }))
    expect(stand(here)).toEqual(["open 1"])
  })

  it("keeps scopes apart: other labels, other targets, other people's issues", async () => {
    const here = await start()
    await publishAll(setup(here, { marker_label: "one" }), given(here, [at(1, 20)]))
    await publishAll(setup(here, { marker_label: "two" }), given(here, []))
    const push = { ...change, provider: kind, head: here.pull.head, target: { kind: "push", branch: "main" } } as const
    await publishAll(setup(here, { marker_label: "one" }), given(here, [], [file], { change: push }))
    const [issue] = here.forge.issues(repoName).issues
    expect(issue?.state).toBe("open")
    const strange = { ...issue, user: here.forge.user("mallory"), number: 1999 }
    if (issue !== undefined) here.forge.issues(repoName).issues.push({ ...issue, ...strange })
    await publishAll(setup(here, { marker_label: "one" }), given(here, []))
    expect(stand(here)).toEqual(["closed 1", "open 1"])
  })

  it("resolves only the most recent open issues", async () => {
    const here = await start()
    const to = setup(here)
    await publishAll(to, given(here, [at(1, 20), at(2, 29), at(3, 30)]))
    const space = workspace({}, { output_language: "en", problem_issue: { max_recent_issues: 1 } })
    await publishAll(to, given(here, [], [file], { workspace: space, head: "b".repeat(40) }))
    expect(stand(here)).toEqual(["open 1", "open 2", "closed 3"])
  })

  it.each([
    ["none", ["open 1"], false],
    ["mark_resolved", ["open 1"], true],
    ["close", ["closed 1"], false]
  ] as const)("resolved_action %s", async (action, standing, marked) => {
    const here = await start()
    const to = setup(here, { resolved_action: action })
    await publishAll(to, given(here, [at(1, 20)]))
    await publishAll(to, given(here, [], [file], { head: "b".repeat(40) }))
    await publishAll(to, given(here, [], [file], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(standing)
    const title = () => here.forge.issues(repoName).issues[0]?.title
    expect(title()?.startsWith("[Resolved]")).toBe(marked)
    expect(title()?.split("[Resolved]").length).toBe(marked ? 2 : 1)
    await publishAll(to, given(here, [at(1, 20)], [file], { head: "d".repeat(40) }))
    expect(stand(here)).toEqual(["open 1"])
    expect(title()).toBe(`[AICR] Title 1 (${file})`)
  })

  it("keeps one consolidated issue in place", async () => {
    const here = await start()
    const to = setup(here, { issue_mode: "consolidated" })
    const other = finding(3, { file: "b.ts" }, { path: "b.ts", side: "new", line: 1 })
    await publishAll(to, given(here, [at(1, 20), at(2, 29), other], [file, "b.ts"]))
    expect(stand(here)).toEqual(["open 1+2+3"])
    await publishAll(to, given(here, [at(2, 29)], [file], { head: "b".repeat(40) }))
    expect(stand(here)).toEqual(["open 2+3"])
    expect(here.forge.issues(repoName).issues[0]?.body.match(/Message 3/g)).toHaveLength(1)
    await publishAll(to, given(here, [], [file, "b.ts"], { head: "c".repeat(40) }))
    expect(here.forge.issues(repoName).issues.map(({ state }) => state)).toEqual(["closed"])
    await publishAll(to, given(here, [at(1, 20)], [file], { head: "d".repeat(40) }))
    expect(stand(here)).toEqual(["open 1"])
  })

  it("opens one issue per commit and resolves it with its last problem", async () => {
    const here = await start()
    const to = setup(here, { issue_mode: "per_commit" })
    await publishAll(to, given(here, [at(1, 20), at(2, 29)]))
    await publishAll(to, given(here, [at(2, 29), at(3, 30)], [file], { head: "b".repeat(40) }))
    expect(stand(here)).toEqual(["open 1+2", "open 3"])
    await publishAll(to, given(here, [at(3, 30)], [file], { head: "c".repeat(40) }))
    expect(stand(here)).toEqual(["closed 1+2", "open 3"])
  })

  it("has the label of the severity in its text, and keeps labels of people", async () => {
    const here = await start()
    const { issues } = here.forge.issues(repoName)
    const labels = () => issues.map((issue) => issue.labels.join())
    let head = 0
    const publisher =
      (settings: Parameters<typeof channel>[0]) =>
      async (findings: ReadonlyArray<Finding>, paths: ReadonlyArray<string> = [file]) => {
        const from = here.forge.requests.length
        const to = setup(here, { severity_label_prefix: "s/", ...settings })
        await publishAll(to, given(here, findings, paths, { head: (++head).toString(16).padStart(40, "0") }))
        return here.forge.requests.slice(from).filter(({ method }) => method !== "GET")
      }
    const single = publisher({ name: "single" })
    await single([at(1, 20, { severity: "high" })])
    const [first] = issues
    if (first === undefined) throw new Error("no issue")
    first.labels = [...first.labels, "triaged"]
    await single([])
    expect(await single([at(1, 20, { severity: "high" })])).toHaveLength(1)
    expect(labels()).toEqual(["s/high,triaged"])
    await single([])
    await single([at(1, 20, { severity: "low" })])
    expect(labels().map((names) => names.split(",").toSorted())).toEqual([["s/low", "triaged"]])
    expect(await single([at(1, 20, { severity: "low" })])).toEqual([])

    issues.splice(0)
    const joined = publisher({ name: "joined", issue_mode: "consolidated" })
    await joined([at(1, 20, { severity: "medium" })])
    await joined([at(2, 29, { severity: "critical" })], [])
    expect(labels()).toEqual(["s/critical"])
    // The problem that this review does not see keeps its severity.
    expect(await joined([at(1, 20, { severity: "medium" }), at(3, 30, { severity: "low" })], [])).toHaveLength(1)
    expect(labels()).toEqual(["s/critical"])
    await joined([at(1, 20, { severity: "medium" }), at(3, 30, { severity: "low" })])
    expect(labels()).toEqual(["s/medium"])

    issues.splice(0)
    const commit = publisher({ name: "commit", issue_mode: "per_commit" })
    await commit([at(1, 20, { severity: "high" }), at(2, 29, { severity: "info" })])
    await commit([at(2, 29, { severity: "info" })])
    expect(labels()).toEqual(["s/info"])
  })

  it("labels by severity, and assigns the author and the owners", async () => {
    const here = await start()
    const fake = here.forge.issues(repoName)
    await here.forge.push(repoName, {
      branch: "main",
      message: "owners",
      files: { OWNERS: "* @mallory\nsrc/ @olga\n" }
    })
    await here.forge.push(repoName, { branch: "own", message: "own owners", files: { OWNERS: "* @mallory\n" } })
    const names = kind === "gitea" || kind === "forgejo" ? {} : { labels: ["review"] }
    const to = setup(here, {
      ...names,
      severity_label_prefix: "aicr/",
      severity_label_colors: { high: "#123456" },
      assign_committer: true,
      add_owners_as_assignees: true
    })
    const reviewed = given(here, [at(1, 20, { severity: "high" })])
    await publishAll(to, { ...reviewed, change: { ...reviewed.change, baseRef: "own" } })
    expect(fake.labels.get("aicr/high")?.color).toBe("123456")
    expect(fake.issues[0]?.labels).toEqual([...(names.labels ?? []), "aicr/high"])
    expect(fake.issues[0]?.assignees.toSorted()).toEqual(["dana", "olga"])
    fake.unassignable.add("olga")
    await publishAll(to, given(here, [at(2, 29)], [file], { head: "b".repeat(40) }))
    expect(fake.issues[1]?.assignees).toEqual([])
  })

  it("assigns the owners of the default branch to the problems of a push, whatever the pushed branch contains", async () => {
    const here = await start()
    const fake = here.forge.issues(repoName)
    const push = (branch: string, owner: string) =>
      here.forge.push(repoName, { branch, message: "owners", files: { OWNERS: `* @${owner}\n` } })
    await push("main", "olga")
    const branch = here.pull.headBranch
    await push(branch, "mallory")
    const to = setup(here, { add_owners_as_assignees: true })
    const pushed = { ...change, provider: kind, head: here.pull.head, target: { kind: "push", branch } } as const
    await publishAll(to, given(here, [at(1, 20)], [file], { change: pushed }))
    expect(fake.issues[0]?.assignees).toEqual(["olga"])
  })

  const faults: ReadonlyArray<readonly [string, Fault]> = [
    ["lost", fault.lost],
    ["cut", fault.cut],
    ["500", fault.broken],
    ["503", fault.unavailable],
    ["429", fault.tooMany("0")],
    ["403 rate limit", fault.answered(403, { message: "rate limit" }, { "retry-after": "0" })]
  ]
  const modes = ["per_problem", "consolidated", "per_commit"] as const
  // The writes of all modes are the same; what differs is which of them there are.
  const cases = faults.flatMap(([name, thrown], i) =>
    modes.slice(0, i < 2 ? 3 : 1).map((mode) => [name, mode, thrown] as const)
  )
  // Each request fails with some of the faults; with AICR_TEST_FAULTS=all with each of them.
  const stride = isWhole("AICR_TEST_FAULTS") ? 1 : 5
  it.each(cases)("writes each once when %s happens at any request (%s)", async (name, mode, thrown) => {
    const here = await start()
    const to = setup(here, { issue_mode: mode, severity_label_prefix: "s/", assign_committer: true })
    let head = 0
    const nextHead = () => (++head).toString(16).padStart(40, "0")
    const steps = async (step: number) => {
      let seen = 0
      here.forge.intercept(() => (++seen === step ? thrown : undefined))
      await publishAll(to, given(here, [at(1, 20), at(2, 29)], [file], { head: nextHead() }))
      const after = [...stand(here)]
      await publishAll(to, given(here, [at(2, 29)], [file], { head: nextHead() }))
      await publishAll(to, given(here, [], [file], { head: nextHead() }))
      return { seen, after }
    }
    const wanted = mode === "per_problem" ? ["open 1", "open 2"] : ["open 1+2"]
    const begins = 1 + (cases.findIndex(([one, other]) => one === name && other === mode) % stride)
    for (let step = begins, all = step; step <= all; step += stride) {
      const { seen, after } = await steps(step)
      all = seen
      expect(after.filter((one) => one.startsWith("open"))).toEqual(wanted)
      expect(stand(here).filter((one) => one.startsWith("open"))).toEqual([])
      here.forge.issues(repoName).issues.splice(0)
    }
  })
})

describe("deleting", () => {
  it("deletes a resolved issue on Gitea, but closes one that people wrote on", async () => {
    const here = await startHost("gitea")
    const to = {
      forge: here.forge,
      kind: table.gitea_problem_issue,
      channel: channel({ name: "i", kind: "gitea_problem_issue", resolved_action: "delete", assign_committer: false })
    }
    const asked = (findings: ReadonlyArray<Finding>, head: string) =>
      input(findings, { head, analysis: analysis(findings, read([file])) })
    await publishAll(to, asked([at(1, 20), at(2, 29)], "1".repeat(40)))
    const { issues } = here.forge.issues(repoName)
    if (issues[0] !== undefined) issues[0].comments = 1
    await publishAll(to, asked([], "2".repeat(40)))
    expect(issues.map(({ number, state }) => [number, state])).toEqual([[1001, "closed"]])
    here.forge.expectContract()
    await here.forge.stop()
  })

  it("closes an issue that the account may not delete, and opens it again when its problem returns", async () => {
    const here = await startHost("gitea")
    const to = {
      forge: here.forge,
      kind: table.gitea_problem_issue,
      channel: channel({ name: "i", kind: "gitea_problem_issue", resolved_action: "delete", assign_committer: false })
    }
    const asked = (findings: ReadonlyArray<Finding>, head: string) =>
      input(findings, { head, analysis: analysis(findings, read([file])) })
    here.forge.fail(/^DELETE .*\/issues\/\d+$/, fault.forbidden, 100)
    const states = () => here.forge.issues(repoName).issues.map(({ state }) => state)
    await publishAll(to, asked([at(1, 20)], "1".repeat(40)))
    const rows = await publishAll(to, asked([], "2".repeat(40)))
    expect([states(), rows.map(({ status }) => status)]).toEqual([["closed"], ["sent", "sent"]])
    const before = here.forge.writes().length
    await publishAll(to, asked([], "3".repeat(40)))
    expect(here.forge.writes()).toHaveLength(before)
    await publishAll(to, asked([at(1, 20)], "4".repeat(40)))
    expect(states()).toEqual(["open"])
    here.forge.expectContract()
    await here.forge.stop()
  })
})
