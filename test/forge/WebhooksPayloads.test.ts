/** Deliveries as real hosts send them, and malformed ones. */
import { createHmac } from "node:crypto"
import webhookExamples from "@octokit/webhooks-examples" with { type: "json" }
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { admit } from "../../src/admission/Admit.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { HostEvent } from "../../src/domain/HostEvent.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Headers, Parsed } from "../../src/forge/Forge.ts"
import { isOwnComment } from "../../src/domain/CommentCommand.ts"
import { webhooks } from "../../src/forge/Webhooks.ts"
import { contractBytes, hasContracts, readContract } from "../harness/Contracts.ts"
import { isSignedBy, parseBody } from "../harness/Verify.ts"
import { Decision, nobody, ownPayloads, Target } from "./OwnPayloads.ts"

const hmac = (secret: string, bytes: Buffer) => createHmac("sha256", secret).update(bytes).digest("hex")

const eventIn = (parsed: Parsed): HostEvent => {
  if (parsed._tag === "Event") return parsed.event
  throw new Error(`rejected: ${parsed.reason} ${JSON.stringify(parsed.issues)}`)
}

const Manifest = Schema.Struct({
  secret: Schema.String,
  payloads: Schema.Array(
    Schema.Struct({
      file: Schema.String,
      host: ForgeKind,
      headers: Schema.Record(Schema.String, Schema.String),
      decision: Decision,
      hmac_sha256_hex: Schema.String,
      target: Target
    })
  )
})

interface Expected {
  readonly file: string
  readonly host: ForgeKind
  readonly headers: Readonly<Record<string, string>>
  readonly decision: Decision
  readonly target: Target
  readonly bytes: Buffer
}

const manifest = hasContracts
  ? Schema.decodeUnknownSync(Manifest)(readContract("payloads/manifest.json"))
  : { secret: "", payloads: [] }

describe("payloads", () => {
  const payloads: ReadonlyArray<Expected> = [
    ...ownPayloads.map(({ payload, ...expected }) => ({ ...expected, bytes: Buffer.from(JSON.stringify(payload)) })),
    ...manifest.payloads.map((expected) => ({ ...expected, bytes: contractBytes(`payloads/${expected.file}`) }))
  ]

  /**
   * Differences to the manifest, whose decisions were derived mechanically: an edited issue of GitHub is read as an issue. The
   * result is the same: issues of GitHub and GitLab are not triaged, so admission starts nothing. A renamed repository is listed again.
   */
  const disagreements: Readonly<Record<string, string>> = {
    "github/issues.edited.2.json": "IssueChanged",
    "github/repository.renamed.1.json": "Lifecycle",
    // The table is older than reviews of merge groups.
    "github/merge_group.checks_requested.2.json": "MergeGroupQueued"
  }

  /** The events that each decision allows. `policy` depends on the configuration: the event must be understood, or be ignored. */
  const tags: Readonly<Record<Expected["decision"], ReadonlyArray<HostEvent["_tag"]>>> = {
    review_pull_request: ["PullRequestUpdated"],
    review_push: ["Pushed"],
    command: ["Ignored", "Commanded", "Discussed"],
    issue: ["IssueChanged"],
    policy: ["Ignored", "PullRequestUpdated", "Pushed"],
    ignore: ["Ignored", "Discussed", "PullRequestClosed"],
    ping: ["Ping"],
    lifecycle: ["Lifecycle"]
  }

  const parse = ({ bytes, headers, host }: Expected): HostEvent => {
    const lower: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
    return eventIn(parseBody(webhooks[host], lower, bytes))
  }

  const same = (actual: unknown, expected: unknown, what: string) => {
    if (expected !== undefined && expected !== null) assert.deepStrictEqual(actual, expected, what)
  }

  it("are many", () => assert.isAtLeast(payloads.length, hasContracts ? 200 : 50))

  for (const expected of payloads) {
    it(`${expected.file}: ${expected.decision}`, () => {
      const event = parse(expected)
      const { target } = expected
      assert.include([...(tags[expected.decision] ?? []), disagreements[expected.file]], event._tag)
      assert.strictEqual(event.provider, expected.host)
      if ("repo" in event) same(event.repo?.fullName, target.repo, "repository")
      same(event.subject.number, target.number, "number of the subject")
      same(event.subject.pusher ?? nobody, target.pusher, "pusher")
      if (event.subject.kind === "pull_request") same(event.subject.branch, target.base_ref, "branch of the subject")
      switch (event._tag) {
        case "PullRequestUpdated":
          same(event.pull.number, target.number, "number")
          same(event.pull.head, target.head_sha, "head")
          same(event.pull.headRef, target.head_ref, "head ref")
          same(event.pull.baseRef, target.base_ref, "base ref")
          same(event.pull.base, target.base_sha, "base")
          same(event.pull.draft, target.draft, "draft")
          same(event.pull.labels, target.labels, "labels")
          same(event.pull.author?.username, target.author, "author")
          break
        case "MergeGroupQueued":
          assert.deepInclude(event.group, { baseRef: "main", number: 104 })
          break
        case "PullRequestClosed":
          same(event.number, target.number, "number")
          break
        case "Pushed":
          same(event.branch, target.branch, "branch")
          same(event.before, target.before, "before")
          same(event.after, target.after, "after")
          same(event.created, target.created ?? false, "created")
          break
        case "IssueChanged":
          same(event.number, target.number, "number")
          break
      }
    })
  }

  it("admission starts work for just those that should", async () => {
    const kinds = ForgeKind.literals
    const snapshot = await Effect.runPromise(
      toSnapshot(
        {
          triggers: kinds.map((kind) => ({ name: kind, kind, webhook_secret: "x", base_url: "https://host.test" })),
          workspaces: { instances: { all: { match: [{ source: { repo_ref: { glob: "*" } } }] } } }
        },
        {}
      )
    )
    const starts = new Set(["review_pull_request", "review_push"])
    const undecided = new Set(["policy", "issue", "command"])
    let started = 0
    for (const expected of payloads) {
      const event = parse(expected)
      const verified = snapshot.triggersOfKind(expected.host)
      const decided = admit({ snapshot, verified, event, ownAccount: () => undefined, now: 0 })
      if (decided.accepted) started++
      // Drafts wait, and a new branch is reviewed only where it is listed; labels and triage are configuration.
      const held = expected.target.draft === true || expected.target.created === true
      if (undecided.has(expected.decision)) continue
      const isStart = starts.has(expected.decision) || event._tag === "MergeGroupQueued"
      assert.strictEqual(decided.accepted, isStart && !held, expected.file)
    }
    assert.isAtLeast(started, hasContracts ? 45 : 15)
  })

  it("signatures of the bytes hold", () => {
    const secret = "s3cret"
    const signed = [
      ...payloads.map(({ bytes, ...one }) => ({ ...one, bytes, secret, signature: hmac(secret, bytes) })),
      ...manifest.payloads.map((one) => ({
        ...one,
        bytes: contractBytes(`payloads/${one.file}`),
        secret: manifest.secret,
        signature: one.hmac_sha256_hex
      }))
    ]
    for (const one of signed) {
      const headers = { "x-hub-signature-256": `sha256=${one.signature}`, "x-gitlab-token": one.secret }
      assert.isTrue(isSignedBy(webhooks[one.host], one.secret, headers, one.bytes), one.file)
    }
  })

  it("comments with a command in them become commands", () => {
    const comments = payloads.filter(
      ({ decision, file }) =>
        decision === "command" &&
        !file.startsWith("gitea/issue_comment.created.3") &&
        !file.startsWith("github/issue_comment")
    )
    assert.isAtLeast(comments.length, hasContracts ? 11 : 4)
    for (const expected of comments) {
      const { body, number } = expected.target
      const text = expected.bytes.toString()
      const asked = text.replaceAll(JSON.stringify(body ?? ""), JSON.stringify("please /review"))
      const headers = Object.fromEntries(
        Object.entries(expected.headers).map(([name, value]) => [name.toLowerCase(), value])
      )
      const event = eventIn(webhooks[expected.host].parse(headers, Buffer.from(asked)))
      assert.deepInclude(event, { _tag: "Commanded", command: { name: "review" }, number: number ?? 0 }, expected.file)
      const { comment, object_attributes: note } = JSON.parse(asked)
      const onLine = expected.file.startsWith("github/pull_request_review_comment")
      const id = `${onLine ? "line-" : ""}${(comment ?? note).id}`
      assert.strictEqual(event._tag === "Commanded" ? event.comment?.id : undefined, id, expected.file)
    }
  })
})

describe("GitHub's own examples", () => {
  const Example = Schema.Struct({
    name: Schema.String,
    examples: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
  })
  const examples = Schema.decodeUnknownSync(Schema.Array(Example))(webhookExamples)
  const starts = ["opened", "reopened", "synchronize", "ready_for_review", "review_requested"]
  const issueStarts = ["opened", "reopened", "edited"]
  const repositoryActions = ["created", "deleted", "archived", "unarchived", "renamed", "transferred"]

  it("are read without exception, each as its kind", () => {
    let read = 0
    const commented = new Set([
      "issue_comment.created",
      "pull_request_review_comment.created",
      "pull_request_review.submitted",
      "commit_comment.created"
    ])
    /** A review without a text. */
    const isBare = ({ review }: { readonly review?: unknown }) =>
      typeof review === "object" && review !== null && "body" in review && !review.body
    for (const { examples: payloads, name } of examples) {
      for (const payload of payloads) {
        const event = eventIn(webhooks.github.parse({ "x-github-event": name }, Buffer.from(JSON.stringify(payload))))
        const action = String(payload["action"])
        read++
        const expected =
          name === "pull_request" && starts.includes(action)
            ? "PullRequestUpdated"
            : name === "pull_request" && action === "closed"
              ? "PullRequestClosed"
              : name === "issues" && issueStarts.includes(action)
                ? "IssueChanged"
                : name === "repository" && repositoryActions.includes(action)
                  ? "Lifecycle"
                  : name === "ping"
                    ? "Ping"
                    : name.startsWith("installation") && name !== "installation_target"
                      ? "Lifecycle"
                      : name === "push" &&
                          String(payload["ref"]).startsWith("refs/heads/") &&
                          payload["deleted"] !== true
                        ? "Pushed"
                        : commented.has(`${name}.${action}`) && !isBare(payload)
                          ? "Discussed"
                          : name === "check_suite" && action === "rerequested"
                            ? "Commanded"
                            : name === "merge_group"
                              ? action === "destroyed"
                                ? "MergeGroupEnded"
                                : "MergeGroupQueued"
                              : "Ignored"
        assert.strictEqual(event._tag, expected, `${name} ${action}`)
      }
    }
    assert.isAtLeast(read, 200)
  })
})

describe("events", () => {
  const parse = (kind: ForgeKind, headers: Headers, payload: unknown) =>
    webhooks[kind].parse(headers, Buffer.from(JSON.stringify(payload)))
  const repository = { full_name: "acme/app" }
  const pull = { number: 1, title: "x", head: { sha: "a".repeat(40), ref: "f" }, base: { ref: "main" } }
  const tag = (parsed: Parsed) => eventIn(parsed)._tag

  it("the type of Gitea and Forgejo takes precedence over the event, and either host may use the headers of the other", () => {
    const review = { action: "reviewed", repository, pull_request: pull, review: { content: "/review" } }
    const types: ReadonlyArray<readonly [Headers, string]> = [
      [{ "x-gitea-event": "pull_request", "x-gitea-event-type": "pull_request_sync" }, "PullRequestUpdated"],
      [{ "x-gitea-event-type": "pull_request_review_request" }, "PullRequestUpdated"],
      [{ "x-forgejo-event": "pull_request" }, "PullRequestUpdated"],
      [{ "x-github-event": "pull_request" }, "missing_event"]
    ]
    for (const kind of ["gitea", "forgejo"] as const) {
      for (const [headers, expected] of types) {
        const parsed = parse(kind, headers, { action: "synchronized", repository, pull_request: pull })
        assert.strictEqual(parsed._tag === "Event" ? parsed.event._tag : parsed.reason, expected)
      }
      assert.strictEqual(tag(parse(kind, { "x-gitea-event": "pull_request_comment" }, review)), "Commanded")
      const remark = { ...review, review: { content: "Nice" } }
      assert.strictEqual(tag(parse(kind, { "x-gitea-event": "pull_request_comment" }, remark)), "Ignored")
    }
  })

  it("changed repositories are distinguished from other events about them", () => {
    const of = (kind: ForgeKind, headers: Headers, payload: object) => {
      const event = eventIn(parse(kind, headers, payload))
      return event._tag === "Lifecycle" ? event.changed : event._tag
    }
    for (const kind of ["gitea", "forgejo"] as const)
      for (const action of ["created", "deleted"])
        assert.strictEqual(of(kind, { [`x-${kind}-event`]: "repository" }, { action, repository }), "repository")
    const github = (event: string, action: string) => of("github", { "x-github-event": event }, { action, repository })
    assert.deepStrictEqual(
      ["renamed", "transferred", "edited", "publicized"].map((action) => github("repository", action)),
      ["repository", "repository", "Ignored", "Ignored"]
    )
    assert.strictEqual(github("installation_repositories", "added"), "installation")
    const gitlab = (hook: string, name: string) => of("gitlab", { "x-gitlab-event": hook }, { event_name: name })
    for (const name of ["project_create", "project_destroy", "project_rename", "project_transfer"])
      for (const hook of ["System Hook", "Project Hook"]) assert.strictEqual(gitlab(hook, name), "repository")
    assert.deepStrictEqual(
      [gitlab("System Hook", "user_create"), gitlab("Push", "project_create")],
      ["Ignored", "Ignored"]
    )
  })

  it("a draft of Gitea is a title, and an edit that takes it away starts the review", () => {
    const edited = (from: string, title: string) =>
      parse(
        "gitea",
        { "x-gitea-event": "pull_request" },
        {
          action: "edited",
          repository,
          changes: { title: { from } },
          pull_request: { ...pull, title }
        }
      )
    assert.strictEqual(tag(edited("WIP: x", "x")), "PullRequestUpdated")
    assert.strictEqual(tag(edited("[wip] x", "x")), "PullRequestUpdated")
    assert.strictEqual(tag(edited("x", "y")), "Ignored")
    assert.strictEqual(tag(edited("x", "WIP: x")), "Ignored")
    const opened = eventIn(
      parse(
        "gitea",
        { "x-gitea-event": "pull_request" },
        { action: "opened", repository, pull_request: { ...pull, title: "WIP: x" } }
      )
    )
    assert.isTrue(opened._tag === "PullRequestUpdated" && opened.pull.draft)
  })

  it("an edit on GitHub counts when the base was changed", () => {
    const edited = (changes: object) =>
      tag(
        parse(
          "github",
          { "x-github-event": "pull_request" },
          { action: "edited", repository, changes, pull_request: pull }
        )
      )
    assert.strictEqual(edited({ base: { ref: { from: "main" } } }), "PullRequestUpdated")
    assert.strictEqual(edited({ title: { from: "y" } }), "Ignored")
  })

  it("an update on GitLab counts with new commits, with another target branch, or when it is no longer a draft", () => {
    const update = (attributes: object, changes: object = {}) =>
      tag(
        parse(
          "gitlab",
          { "x-gitlab-event": "Merge Request Hook" },
          {
            project: { path_with_namespace: "a/b/c" },
            changes,
            object_attributes: { action: "update", iid: 1, last_commit: { id: "a".repeat(40) }, ...attributes }
          }
        )
      )
    assert.strictEqual(update({ oldrev: "b".repeat(40) }), "PullRequestUpdated")
    assert.strictEqual(update({}, { draft: { previous: true, current: false } }), "PullRequestUpdated")
    assert.strictEqual(update({}, { work_in_progress: { previous: true, current: false } }), "PullRequestUpdated")
    assert.strictEqual(update({}, { draft: { previous: false, current: true } }), "Ignored")
    assert.strictEqual(update({}, { target_branch: { previous: "main", current: "next" } }), "PullRequestUpdated")
    assert.strictEqual(update({}, { labels: {} }), "Ignored")
  })

  it("an edit on Gitea and Forgejo counts when the base was changed", () => {
    const edited = (kind: "gitea" | "forgejo", changes: object) =>
      tag(
        parse(
          kind,
          { [`x-${kind}-event`]: "pull_request" },
          { action: "edited", repository, changes, pull_request: pull }
        )
      )
    for (const kind of ["gitea", "forgejo"] as const) {
      assert.strictEqual(edited(kind, { ref: { from: "main" } }), "PullRequestUpdated")
      assert.strictEqual(edited(kind, { base: { ref: { from: "main" } } }), "PullRequestUpdated")
      assert.strictEqual(edited(kind, { body: { from: "y" } }), "Ignored")
      assert.strictEqual(edited(kind, {}), "Ignored")
    }
  })

  describe("GitLab's System Hooks and confidential notes", () => {
    const project = { path_with_namespace: "a/b/c" }
    const id = "a".repeat(40)
    const merge = { object_kind: "merge_request", event_type: "merge_request", project, user: { username: "ada" } }
    const pushed = { project, ref: "refs/heads/x", before: "b".repeat(40), after: id, user_username: "ada" }
    const note = { project, merge_request: { iid: 3 }, object_attributes: { note: "/aicr review", internal: true } }
    it.each<readonly [string, string, object, string]>([
      ["a push", "System Hook", { event_name: "push", ...pushed }, "Pushed"],
      ["a push named by its kind", "System Hook", { object_kind: "push", ...pushed }, "Pushed"],
      [
        "a merge request",
        "System Hook",
        { ...merge, object_attributes: { iid: 3, action: "open", last_commit: { id } } },
        "PullRequestUpdated"
      ],
      ["a merge", "System Hook", { ...merge, object_attributes: { iid: 3, action: "merge" } }, "PullRequestClosed"],
      ["a tag", "System Hook", { event_name: "tag_push", ...pushed }, "Ignored"],
      ["a new user", "System Hook", { event_name: "user_create", username: "ada" }, "Ignored"],
      ["a prototype's name", "System Hook", { event_name: "constructor" }, "Ignored"],
      ["a confidential note", "Confidential Note Hook", note, "Commanded"]
    ])("%s", (_, name, payload, expected) => {
      const event = eventIn(parse("gitlab", { "x-gitlab-event": name }, payload))
      assert.deepStrictEqual<ReadonlyArray<string>>([event._tag, event.event], [expected, name])
      if (event._tag === "Ignored") assert.strictEqual(event.reason, "unsupported_event")
    })
  })

  it("a merge request hook of GitLab without an action starts no review, and has this reason", () => {
    const project = { path_with_namespace: "a/b" }
    const payload = { object_kind: "merge_request", project, object_attributes: { iid: 3 } }
    const event = eventIn(parse("gitlab", { "x-gitlab-event": "Merge Request Hook" }, payload))
    assert.deepInclude(event, { _tag: "Ignored", reason: "unsupported_action" })
  })

  it("no e-mail address is read but for source exclusion", () => {
    const commits = [{ id: "c", message: "m", author: { name: "Ada", email: "ada@example.com", username: "ada" } }]
    const event = eventIn(
      parse(
        "github",
        { "x-github-event": "push" },
        {
          ref: "refs/heads/a/b",
          before: "0".repeat(40),
          after: "a".repeat(40),
          repository,
          commits,
          pusher: { email: "p@example.com" }
        }
      )
    )
    assert.deepInclude(event, { _tag: "Pushed", branch: "a/b", created: true, commits: 1 })
    assert.deepStrictEqual(event._tag === "Pushed" ? event.listed : [], [
      { author: "ada", email: "ada@example.com", message: "m" }
    ])
    assert.notInclude(JSON.stringify({ ...event, listed: [] }), "example.com")
  })

  it("long texts are cut, long names refused", () => {
    const long = { ...pull, title: "t".repeat(5000), body: "b".repeat(200_000) }
    const event = eventIn(
      parse("github", { "x-github-event": "pull_request" }, { action: "opened", repository, pull_request: long })
    )
    assert.deepStrictEqual(
      event._tag === "PullRequestUpdated" ? [event.pull.title?.length, event.pull.description?.length] : [],
      [1000, 65_536]
    )
    const named = parse(
      "github",
      { "x-github-event": "pull_request" },
      { action: "opened", repository, pull_request: { ...pull, head: { sha: "a".repeat(40), ref: "r".repeat(256) } } }
    )
    assert.deepInclude(named, { _tag: "Rejected", reason: "invalid_payload", event: "pull_request" })
  })

  it("text that no store can hold is refused with its place, and a cut leaves no half of a character", () => {
    const hub = (over: object, top: object = {}) =>
      parse("github", { "x-github-event": "pull_request" }, { ...opened, pull_request: { ...pull, ...over }, ...top })
    const opened = { action: "opened", repository }
    const refused: ReadonlyArray<readonly [Parsed, string]> = [
      [hub({ head: { sha: "a".repeat(40), ref: "f\ud800" } }), "pull_request.head.ref"],
      [hub({ title: "\udfff" }), "pull_request.title"],
      [hub({ title: "a\u0000b" }), "pull_request.title"],
      [hub({ labels: [{ name: "ok" }, { name: "\ud83d" }] }), "pull_request.labels[1].name"],
      [hub({}, { sender: { login: "\ud800" } }), "sender.login"],
      [hub({}, { action: "\ud800" }), "action"]
    ]
    for (const [parsed, path] of refused) {
      assert.deepInclude(parsed, { _tag: "Rejected", reason: "invalid_payload" })
      assert.deepStrictEqual(parsed._tag === "Rejected" ? parsed.issues.map((issue) => issue.path) : [], [path])
    }
    const cut = eventIn(hub({ title: `${"t".repeat(999)}\u{1f600}` }))
    assert.strictEqual(cut._tag === "PullRequestUpdated" ? cut.pull.title : "", "t".repeat(999))
    const pushed = eventIn(
      parse(
        "github",
        { "x-github-event": "push" },
        {
          ref: "refs/heads/x",
          before: "b".repeat(40),
          after: "a".repeat(40),
          repository,
          commits: [{ message: "\ud800", author: { name: "a\u0000" } }]
        }
      )
    )
    assert.deepStrictEqual(pushed._tag === "Pushed" ? pushed.listed : [], [
      { author: "a\ufffd", email: undefined, message: "\ufffd" }
    ])
  })

  it("delivery ids are the host's, and unusable ones are none", () => {
    const all = {
      "x-github-delivery": "h",
      "x-gitea-delivery": "t",
      "x-forgejo-delivery": "f",
      "x-gitlab-event-uuid": "u",
      "idempotency-key": "i"
    }
    const ids = (headers: Headers) =>
      (["github", "gitea", "forgejo", "gitlab"] as const).map((kind) =>
        webhooks[kind].deliveryId(headers, Buffer.from("{}"))
      )
    assert.deepStrictEqual(ids(all), ["h", "t", "f", "i"])
    assert.deepStrictEqual(ids({ "x-github-delivery": "h", "idempotency-key": "i" }), ["h", "h", "h", "i"])
    const [, , , chained] = ids({ "x-gitlab-event-uuid": "u" })
    assert.match(chained ?? "", /^u:[0-9a-f]{64}$/)
    assert.notStrictEqual(chained, webhooks.gitlab.deliveryId({ "x-gitlab-event-uuid": "u" }, Buffer.from("{} ")))
    for (const unusable of ["", " ", "x".repeat(201), "a b", "ä"]) {
      assert.deepStrictEqual(ids({ "x-github-delivery": unusable, "idempotency-key": unusable }), [
        undefined,
        undefined,
        undefined,
        undefined
      ])
    }
  })
})

describe("own comments", () => {
  it("our own comments are known by their marker", () => {
    assert.isTrue(isOwnComment('Summary\n<!-- aicr:v1 {"op":"1"} -->'))
    assert.isFalse(isOwnComment("<!-- something else -->"))
  })

  it("name their author, as far as the host does", () => {
    const body = 'Summary\n<!-- aicr:v1 {"op":"1"} -->'
    const [repository, project] = [{ full_name: "a/b" }, { path_with_namespace: "a/b" }]
    const sender = { login: "eve" }
    const github = (comment: object) => ({ action: "edited", repository, sender, issue: { number: 7 }, comment })
    const gitlab = (author_id: number) => ({
      project,
      user: { id: 5, username: "eve" },
      object_attributes: { action: "update", note: body, author_id },
      merge_request: { iid: 7 }
    })
    const writerIn = (kind: ForgeKind, headers: Headers, payload: object) => {
      const event = eventIn(parseBody(webhooks[kind], headers, Buffer.from(JSON.stringify(payload))))
      return event._tag === "Ignored" ? [event.reason, event.writer] : event._tag
    }
    for (const kind of ["github", "gitea", "forgejo"] as const) {
      const headers = { [`x-${kind}-event`]: "issue_comment" }
      const by = (comment: object) => writerIn(kind, headers, github(comment))
      assert.deepStrictEqual(by({ body, user: { login: "aicr" } }), ["own_event", "aicr"])
      assert.deepStrictEqual(by({ body }), ["own_event", undefined])
      assert.deepStrictEqual(by({ body, user: { login: 7 } }), ["own_event", undefined])
    }
    const headers = { "x-gitlab-event": "Note Hook" }
    assert.deepStrictEqual(writerIn("gitlab", headers, gitlab(5)), ["own_event", "eve"])
    assert.deepStrictEqual(writerIn("gitlab", headers, gitlab(6)), ["own_event", undefined])
  })
})

describe("for any input", () => {
  const kinds = ["gitea", "forgejo", "github", "gitlab"] as const
  const names = {
    gitea: "x-gitea-event",
    forgejo: "x-forgejo-event-type",
    github: "x-github-event",
    gitlab: "x-gitlab-event"
  }
  const event = fc.constantFrom(
    "pull_request",
    "push",
    "issue_comment",
    "issues",
    "ping",
    "installation",
    "pull_request_comment",
    "Merge Request Hook",
    "Push Hook",
    "Note Hook",
    "Issue Hook",
    "toString",
    "x"
  )
  const contentType = fc.constantFrom("application/json", "application/x-www-form-urlencoded", "")

  it("parsing random bytes never throws", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        event,
        contentType,
        fc.uint8Array({ maxLength: 500 }),
        (kind, name, type, body) => {
          const parsed = parseBody(webhooks[kind], { [names[kind]]: name, "content-type": type }, body)
          assert.include(["Event", "Rejected"], parsed._tag)
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("parsing random JSON in the shape of payloads never throws, and what comes out is safe to use", () => {
    const keys = fc.constantFrom(
      "action",
      "repository",
      "full_name",
      "pull_request",
      "number",
      "head",
      "base",
      "sha",
      "ref",
      "before",
      "after",
      "labels",
      "name",
      "title",
      "sender",
      "login",
      "object_attributes",
      "iid",
      "last_commit",
      "id",
      "project",
      "path_with_namespace",
      "comment",
      "issue",
      "body",
      "note",
      "merge_request",
      "commits",
      "author",
      "changes",
      "__proto__",
      "constructor"
    )
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(
        "opened",
        "created",
        "open",
        "update",
        "refs/heads/x",
        "a".repeat(40),
        "0".repeat(40),
        "acme/app",
        "../x",
        "-x",
        1,
        0,
        -1,
        1e99,
        true,
        null,
        "/review"
      ),
      fc.string(),
      fc.integer()
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(keys, tie("tree"), { maxKeys: 8 })
      )
    }))
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        event,
        fc.dictionary(keys, tree, { maxKeys: 12 }),
        (kind, name, payload) => {
          const parsed = webhooks[kind].parse({ [names[kind]]: name }, Buffer.from(JSON.stringify(payload)))
          if (parsed._tag === "Rejected") {
            assert.isNotEmpty(parsed.issues)
            return
          }
          const found = parsed.event
          if ("repo" in found && found.repo !== undefined) assert.match(found.repo.fullName, /^[\w.-]+(\/[\w.-]+)+$/)
          if (found._tag === "PullRequestUpdated") assert.match(found.pull.head ?? "", /^[0-9a-f]{40,64}$/)
          if (found._tag === "Pushed") assert.notMatch(found.branch, /^-|\.\.|\s/)
        }
      ),
      { numRuns: 3000 }
    )
  })
})
