/** Admission of deliveries as a table over one configuration. */
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import type { Admitted } from "../../src/admission/Admit.ts"
import { admit } from "../../src/admission/Admit.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { administrator, targetKey } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import { noSubject } from "../../src/domain/HostEvent.ts"
import type { HostEvent, PullRequestFacts } from "../../src/domain/HostEvent.ts"
import { TargetKey } from "../../src/domain/Keys.ts"

const now = Date.parse("2026-03-04T12:00:00Z")
const minute = 60_000

const facts = {
  provider: "gitea",
  event: "pull_request",
  action: "opened",
  repo: { fullName: "Acme/App", cloneUrl: "https://git.test/Acme/App.git" },
  sender: { username: "ada" },
  subject: noSubject
} as const

const pull = (over: Partial<PullRequestFacts> = {}, repo: Repo = facts.repo): HostEvent => ({
  _tag: "PullRequestUpdated",
  ...facts,
  repo,
  isHeadOnly: true,
  pull: {
    number: 7,
    head: "a".repeat(40),
    base: "b".repeat(40),
    headRef: "feature",
    baseRef: "main",
    title: "Add",
    description: undefined,
    url: undefined,
    author: { username: "ada" },
    draft: false,
    labels: [],
    ...over
  }
})

const push = (over: Partial<Extract<HostEvent, { _tag: "Pushed" }>> = {}): HostEvent => ({
  _tag: "Pushed",
  ...facts,
  event: "push",
  action: undefined,
  branch: "main",
  before: "b".repeat(40),
  after: "a".repeat(40),
  created: false,
  commits: 1,
  listed: [{ author: "ada", email: "ada@example.com", message: "Fix it" }],
  ...over
})

const command = (name: "review" | "help" | "cancel" = "review", sender: string | undefined = "ada"): HostEvent => ({
  _tag: "Commanded",
  ...facts,
  sender: sender === undefined ? undefined : { username: sender },
  command: { name },
  number: 7,
  baseRef: undefined,
  title: undefined,
  url: undefined,
  comment: undefined
})

const button = (): HostEvent => ({
  _tag: "Commanded",
  ...facts,
  command: { name: "review" },
  isButton: true,
  number: 7,
  baseRef: undefined,
  title: undefined,
  url: undefined,
  comment: undefined
})

const issue = (): HostEvent => ({
  _tag: "IssueChanged",
  ...facts,
  event: "issues",
  number: 3,
  title: "Bug",
  url: undefined
})

const queue = { branch: "gh-readonly-queue/main/pr-7-base", baseRef: "main", number: 7 }
const group = (over: Partial<typeof queue> = {}): HostEvent => ({
  _tag: "MergeGroupQueued",
  ...facts,
  event: "merge_group",
  action: "checks_requested",
  group: { ...queue, ...over },
  head: "a".repeat(40),
  base: "b".repeat(40)
})

const snapshotWith = (review: unknown, instance: object = {}, base_url: string | null = "https://git.test") =>
  Effect.runPromise(
    toSnapshot(
      {
        triggers: [{ name: "tea", kind: "gitea", webhook_secret: "x", base_url }],
        workspaces: { instances: { app: { source_repo: { trigger: "tea", repo: "acme/app" }, review, ...instance } } }
      },
      {}
    )
  )

const decide = (snapshot: Snapshot, event: HostEvent, own?: string): Admitted =>
  admit({ snapshot, verified: snapshot.triggersOfKind("gitea"), event, ownAccount: () => own, now })

describe("a group of a merge queue", () => {
  it("starts immediately, whatever the schedule, also if the account of the trigger queued it", async () => {
    const snapshot = await snapshotWith({
      pull_request: { schedule: { rules: [{ days: ["sun"], windows: [{ start: "01:00", end: "02:00" }] }] } }
    })
    for (const own of [undefined, "ada"])
      assert.deepInclude(decide(snapshot, group(), own), {
        accepted: true,
        priority: 0,
        dueAt: now,
        request: undefined,
        change: {
          provider: "gitea",
          trigger: "tea",
          workspace: "app",
          repo: { fullName: "Acme/App", cloneUrl: "https://git.test/Acme/App.git" },
          target: { kind: "merge_group", branch: queue.branch, number: 7 },
          head: "a".repeat(40),
          base: "b".repeat(40),
          headRef: queue.branch,
          baseRef: "main"
        }
      })
  })

  it("has a key of its own, which its end names", async () => {
    const snapshot = await snapshotWith({})
    const ended = decide(snapshot, { _tag: "MergeGroupEnded", ...facts, group: queue })
    const key = TargetKey.make(`tea:acme/app:merge_group:${queue.branch}`)
    assert.deepInclude(ended, {
      accepted: false,
      reason: "closed",
      rule: { _tag: "MergeGroupEnded" },
      closes: { targetKey: key, reason: { _tag: "MergeGroupEnded" } }
    })
    const started = decide(snapshot, group())
    assert.strictEqual(started.accepted && targetKey(started.change), key)
  })

  it.each([
    ["without statuses", { status_check: false }, "unsupported_event"],
    [
      "into a branch that is not listed",
      { pull_request: { include_target_branches: ["release"] } },
      "target_branch_not_watched"
    ]
  ] as const)("%s starts nothing", async (_, review, reason) => {
    assert.deepInclude(decide(await snapshotWith(review), group()), { accepted: false, reason })
  })

  it("is reviewed again for a person who repeats its check, who is named", async () => {
    const snapshot = await snapshotWith({})
    const by = (username: string | undefined): HostEvent => ({
      ...Object(group()),
      isRepeated: true,
      sender: username === undefined ? undefined : { username }
    })
    assert.deepInclude(decide(snapshot, by("dana")), { accepted: true, dueAt: now, request: undefined })
    assert.nestedInclude(decide(snapshot, by("dana")), { "change.requestedBy": "dana" })
    assert.notNestedProperty(decide(snapshot, group()), "change.requestedBy")
    for (const username of [undefined, "administrator x", "chat x"])
      assert.deepInclude(decide(snapshot, by(username)), { accepted: false, rule: { _tag: "WriterUnnamed" } })
  })

  it("is routed by the branch to merge into", async () => {
    const triggers = [{ name: "tea", kind: "gitea", webhook_secret: "x", base_url: "https://git.test" }]
    const instances = { app: { match: [{ triggers: ["tea"], source: { branch: { exact: "release" } } }] } }
    const snapshot = await Effect.runPromise(toSnapshot({ triggers, workspaces: { instances } }, {}))
    assert.isTrue(decide(snapshot, group({ baseRef: "release" })).accepted)
    assert.deepInclude(decide(snapshot, group()), { accepted: false, reason: "repository_not_configured" })
  })
})

describe("reasons", () => {
  const excluded = [{ id: "bots", match: { author: { glob: "*[bot]" } } }]
  const cases: ReadonlyArray<readonly [string, HostEvent, unknown, string]> = [
    ["a draft", pull({ draft: true }), {}, "draft"],
    ["a draft where drafts are taken", pull({ draft: true }), { skip_drafts: false }, "accepted"],
    ["an ignored label", pull({ labels: ["bug", "aicr-ignore"] }), {}, "label_ignored"],
    ["an ignored label in another case", pull({ labels: ["AICR:Ignore"] }), {}, "label_ignored"],
    ["labels that are not ignored", pull({ labels: ["aicr:ignore"] }), { labels: { ignore: [] } }, "accepted"],
    [
      "a target branch not listed",
      pull(),
      { pull_request: { include_target_branches: ["release"] } },
      "target_branch_not_watched"
    ],
    ["a listed target branch", pull(), { pull_request: { include_target_branches: ["release", "main"] } }, "accepted"],
    [
      "target branches are exact",
      pull({ baseRef: "Main" }),
      { pull_request: { include_target_branches: ["main"] } },
      "target_branch_not_watched"
    ],
    [
      "an unknown target branch",
      pull({ baseRef: undefined }),
      { pull_request: { include_target_branches: ["main"] } },
      "accepted"
    ],
    ["an empty list takes all", pull(), { pull_request: { include_target_branches: [] } }, "accepted"],
    [
      "branch lists of pushes leave pull requests alone",
      pull(),
      { auto_commit: { include_branches: ["other"] } },
      "accepted"
    ],
    ["a push to a branch not listed", push(), { auto_commit: { include_branches: ["release"] } }, "branch_not_watched"],
    ["a push to a listed branch", push(), { auto_commit: { include_branches: ["main"] } }, "accepted"],
    ["a new branch", push({ created: true }), {}, "branch_not_watched"],
    [
      "a new branch where all are taken",
      push({ created: true }),
      { auto_commit: { include_branches: [] } },
      "branch_not_watched"
    ],
    [
      "a new branch that is listed",
      push({ created: true }),
      { auto_commit: { include_branches: ["main"] } },
      "accepted"
    ],
    ["target lists leave pushes alone", push(), { pull_request: { include_target_branches: ["other"] } }, "accepted"],
    [
      "a push of a bot",
      push({ listed: [{ author: "ci[bot]", email: undefined, message: "" }] }),
      { auto_commit: { exclude_sources: excluded } },
      "source_excluded"
    ],
    [
      "a push of a bot in another case",
      push({ listed: [{ author: "CI[bot]", email: undefined, message: "" }] }),
      { auto_commit: { exclude_sources: [{ id: "ci", match: { author: { glob: "ci*" } } }] } },
      "accepted"
    ],
    [
      "a push of a bot in another case that is folded",
      push({ listed: [{ author: "CI[bot]", email: undefined, message: "" }] }),
      { auto_commit: { exclude_sources: [{ id: "ci", match: { author: { glob: "ci*", ignore_case: true } } }] } },
      "source_excluded"
    ],
    [
      "a bot among people",
      push({
        listed: [
          { author: "ci[bot]", email: undefined, message: "" },
          { author: "ada", email: undefined, message: "" }
        ]
      }),
      { auto_commit: { exclude_sources: excluded } },
      "accepted"
    ],
    [
      "a bot as pusher of commits that are not listed",
      push({ listed: [], sender: { username: "ci[bot]" } }),
      { auto_commit: { exclude_sources: excluded } },
      "source_excluded"
    ],
    [
      "an excluded source of another host",
      push({ listed: [{ author: "ci[bot]", email: undefined, message: "" }] }),
      { auto_commit: { exclude_sources: [{ ...excluded[0], vcs: "github" }] } },
      "accepted"
    ],
    [
      "a message by regular expression, and not by half a rule",
      push({ listed: [{ author: "ada", email: "ada@example.com", message: "chore: bump" }] }),
      {
        auto_commit: {
          exclude_sources: [{ id: "m", match: { message: { regex: "^chore" }, email: { glob: "*@other.test" } } }]
        }
      },
      "accepted"
    ],
    [
      "all matchers of a rule",
      push({ listed: [{ author: "ada", email: "ada@example.com", message: "chore: bump" }] }),
      {
        auto_commit: {
          exclude_sources: [{ id: "m", match: { message: { regex: "^chore" }, email: { glob: "ada@*" } } }]
        }
      },
      "source_excluded"
    ],
    [
      "excluded sources leave pull requests alone",
      pull({ author: { username: "ci[bot]" } }),
      { auto_commit: { exclude_sources: excluded } },
      "accepted"
    ],
    ["a command", command(), {}, "accepted"],
    ["a command where there are none", command(), { comment_commands: false }, "unsupported_action"],
    ["a button where there are none", button(), { comment_commands: false }, "accepted"],
    ["a command of nobody", { ...command(), sender: undefined }, {}, "unsupported_action"],
    ["an issue without triage", issue(), {}, "unsupported_event"]
  ]
  for (const [what, event, review, expected] of cases) {
    it(`${what}: ${expected}`, async () => {
      const decided = decide(await snapshotWith(review), event)
      assert.strictEqual(decided.accepted ? "accepted" : decided.reason, expected)
    })
  }

  it("issues start work where triage is on", async () => {
    const decided = decide(await snapshotWith({}, { triage: { enabled: true } }), issue())
    assert.deepInclude(decided, { accepted: true })
    assert.deepInclude(decided.accepted ? decided.change : {}, { target: { kind: "issue", number: 3 } })
    const without = await snapshotWith({}, { triage: { enabled: true, events: [] } })
    assert.deepInclude(decide(without, issue()), { accepted: false, reason: "unsupported_event" })
  })

  it("issues of hosts without triage start nothing, also where all workspaces have it by default", async () => {
    const snapshot = await snapshotWith({}, { triage: { enabled: true } })
    for (const provider of ["github", "gitlab"] as const) {
      const decided = decide(snapshot, { ...issue(), provider })
      assert.deepInclude(decided, { accepted: false, reason: "unsupported_event" })
    }
  })

  it("our own events start nothing, whatever they are", async () => {
    const snapshot = await snapshotWith({}, { triage: { enabled: true } })
    for (const event of [pull(), push(), command(), issue()]) {
      assert.deepInclude(decide(snapshot, event, "ADA"), { accepted: false, reason: "own_event" })
      assert.deepInclude(decide(snapshot, event, "someone"), { accepted: true })
    }
  })

  it.each([
    ["an edit of a comment of the service by a person", "eve", "reviewer", "own_event"],
    ["the service's own edit", "reviewer", "Reviewer", "own_event"],
    ["a comment whose author the host does not name", "eve", undefined, "own_event"],
    ["a comment of the service under an earlier name", "eve", "old-name", "own_event"],
    ["a person's own comment with a copied marker", "eve", "Eve", "unsupported_action"]
  ] as const)("%s is an event of the service's own comments, or is not", async (_, sender, writer, reason) => {
    const snapshot = await snapshotWith({})
    const event = { _tag: "Ignored", reason: "own_event", ...facts, sender: { username: sender }, writer } as const
    assert.deepInclude(decide(snapshot, event, "reviewer"), { accepted: false, reason })
    // Before the account is known, everything with a marker counts as its own.
    assert.deepInclude(decide(snapshot, event), { accepted: false, reason: "own_event" })
  })

  it("a closed pull request names what is to be cancelled, under the key it was queued under", async () => {
    const snapshot = await snapshotWith({})
    const closed = decide(snapshot, { _tag: "PullRequestClosed", ...facts, number: 7, baseRef: "main" })
    assert.deepInclude(closed, {
      accepted: false,
      reason: "closed",
      closes: { targetKey: TargetKey.make("tea:acme/app:pull_request:7"), reason: { _tag: "PullRequestClosed" } }
    })
  })
})

describe("work", () => {
  let snapshot: Snapshot
  beforeAll(async () => {
    snapshot = await snapshotWith({ auto_commit: { delay_seconds: 120 } })
  })

  it("of a pull request starts immediately", () => {
    const decided = decide(snapshot, pull())
    assert.deepInclude(decided, {
      accepted: true,
      priority: 10,
      dueAt: now,
      request: undefined,
      configHash: snapshot.hash
    })
    assert.deepStrictEqual(decided.accepted ? JSON.parse(JSON.stringify(decided.change)) : undefined, {
      provider: "gitea",
      trigger: "tea",
      workspace: "app",
      repo: facts.repo,
      target: { kind: "pull_request", number: 7 },
      head: "a".repeat(40),
      base: "b".repeat(40),
      headRef: "feature",
      baseRef: "main",
      title: "Add",
      author: { username: "ada" }
    })
  })

  it("of a push waits for its delay and keeps no e-mail address", () => {
    const decided = decide(snapshot, push())
    assert.deepInclude(decided, { accepted: true, priority: 20, dueAt: now + 2 * minute })
    assert.notInclude(JSON.stringify(decided.accepted ? decided.change : ""), "example.com")
    assert.deepInclude(decided.accepted ? decided.change : {}, { head: "a".repeat(40), base: "b".repeat(40) })
  })

  it("of a listed new branch has no base", async () => {
    const listed = await snapshotWith({ auto_commit: { include_branches: ["main"] } })
    const decided = decide(listed, push({ created: true, before: "0".repeat(40) }))
    assert.strictEqual(decided.accepted, true)
    assert.isUndefined(decided.accepted ? decided.change.base : "")
  })

  it("of a command goes first and waits for no window", async () => {
    const closed = await snapshotWith({
      pull_request: { schedule: { rules: [{ days: ["sun"], windows: ["01:00-02:00"] }] } }
    })
    const decided = decide(closed, command())
    assert.deepInclude(decided, {
      accepted: true,
      priority: 0,
      dueAt: now,
      request: { command: { name: "review" }, comment: undefined }
    })
    assert.deepInclude(decided.accepted ? decided.change : {}, { requestedBy: "ada" })
    assert.deepInclude(decide(closed, command("cancel")), {
      accepted: true,
      request: { command: { name: "cancel" }, comment: undefined }
    })
    const pretended = command("review", administrator("root"))
    assert.deepInclude(decide(closed, pretended), { accepted: false, reason: "unsupported_action" })
  })

  it("waits for its windows: pull requests for their own, else for those of automatic commits", async () => {
    const night = { rules: [{ days: ["wed"], windows: ["22:00-23:00"] }] }
    const evening = { rules: [{ days: ["wed"], windows: ["20:00-21:00"] }] }
    const at = (time: string) => Date.parse(`2026-03-04T${time}:00Z`)
    const both = await snapshotWith({ auto_commit: { schedule: night }, pull_request: { schedule: evening } })
    assert.deepInclude(decide(both, pull()), { dueAt: at("20:00") })
    assert.deepInclude(decide(both, push()), { dueAt: at("22:00") })
    const fallback = await snapshotWith({ auto_commit: { schedule: night } })
    assert.deepInclude(decide(fallback, pull()), { dueAt: at("22:00") })
    const lifted = await snapshotWith({ auto_commit: { schedule: night }, pull_request: { schedule: { rules: [] } } })
    assert.deepInclude(decide(lifted, pull()), { dueAt: now })
    const elsewhere = await snapshotWith({ pull_request: { schedule: { ...evening, timezone: "America/New_York" } } })
    assert.deepInclude(decide(elsewhere, pull()), { dueAt: at("20:00") + 5 * 60 * minute })
    const pushedElsewhere = await snapshotWith({
      auto_commit: { schedule: { ...evening, timezone: "America/New_York" } }
    })
    assert.deepInclude(decide(pushedElsewhere, push()), { dueAt: at("20:00") + 5 * 60 * minute })
    const late = await snapshotWith({ auto_commit: { delay_seconds: 10 * 3600, schedule: evening } })
    assert.deepInclude(decide(late, push()), { dueAt: at("20:00") + 7 * 24 * 60 * minute })
  })

  it("a command waits for the windows where review.commands_ignore_windows is false", async () => {
    const schedule = { rules: [{ days: ["wed"], windows: ["20:00-21:00"] }] }
    const strict = await snapshotWith({ pull_request: { schedule }, commands_ignore_windows: false })
    assert.deepInclude(decide(strict, command()), { priority: 0, dueAt: Date.parse("2026-03-04T20:00:00Z") })
    assert.deepInclude(decide(strict, command("cancel")), { dueAt: now })
    const free = await snapshotWith({ pull_request: { schedule } })
    assert.deepInclude(decide(free, command()), { dueAt: now })
  })

  it("names the match rule by which its workspace is bound", async () => {
    const rules = [
      { id: "others", source: { repo_ref: { exact: "acme/other" } } },
      { source: { namespace: { exact: "Acme" } } }
    ]
    const unnamed = await snapshotWith({}, { source_repo: undefined, match: rules })
    assert.deepInclude(decide(unnamed, pull()), {
      rule: { _tag: "BoundBy", workspace: "app", repository: "Acme/App", rule: "match[1]" }
    })
    const named = await snapshotWith(
      {},
      { source_repo: undefined, match: [{ id: "mine", source: { branch: { exact: "main" } } }] }
    )
    for (const event of [pull(), command()])
      assert.deepInclude(decide(named, event), {
        rule: { _tag: "BoundBy", workspace: "app", repository: "Acme/App", rule: "mine" }
      })
    assert.deepInclude(decide(snapshot, pull()), {
      rule: { _tag: "BoundBy", workspace: "app", repository: "Acme/App" }
    })
  })

  it("clones from below the host's configured address only", async () => {
    const cloneUrl = (given: Snapshot, url: string | undefined) => {
      const decided = decide(given, pull({}, { fullName: "Acme/App", cloneUrl: url }))
      return decided.accepted ? decided.change.repo.cloneUrl : "refused"
    }
    assert.strictEqual(cloneUrl(snapshot, "https://git.test/Acme/App.git"), "https://git.test/Acme/App.git")
    for (const elsewhere of ["https://evil.test/Acme/App.git", "https://git.test.evil.test/x", undefined]) {
      assert.strictEqual(cloneUrl(snapshot, elsewhere), "https://git.test/Acme/App.git")
    }
    const nowhere = await snapshotWith({}, {}, null)
    assert.isUndefined(cloneUrl(nowhere, "https://evil.test/x"))
  })
})
