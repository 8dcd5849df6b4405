/**
 * Deliveries of each host as its documentation describes them, with the fields that a review depends on, and the decision that each leads
 * to. Real deliveries have more fields; where recordings are present the same checks run on those.
 */
import { Schema } from "effect"
import type { ForgeKind } from "../../src/domain/Kinds.ts"

export const Decision = Schema.Literals([
  "review_pull_request",
  "review_push",
  "command",
  "issue",
  "policy",
  "ignore",
  "ping",
  "lifecycle"
])
export type Decision = typeof Decision.Type

const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The subject of a delivery; null or absent where the host does not name it. */
export const Target = Schema.Struct({
  repo: optional(Schema.String),
  number: optional(Schema.Int),
  head_sha: optional(Schema.String),
  head_ref: optional(Schema.String),
  base_ref: optional(Schema.String),
  base_sha: optional(Schema.String),
  draft: optional(Schema.Boolean),
  labels: optional(Schema.Array(Schema.String)),
  author: optional(Schema.String),
  branch: optional(Schema.String),
  before: optional(Schema.String),
  after: optional(Schema.String),
  created: optional(Schema.Boolean),
  body: optional(Schema.String),
  pusher: optional(Schema.String)
})
export type Target = typeof Target.Type

export interface OwnPayload {
  readonly file: string
  readonly host: ForgeKind
  readonly headers: Readonly<Record<string, string>>
  readonly decision: Decision
  readonly target: Target
  readonly payload: unknown
}

const head = "a1".repeat(20)
const base = "b2".repeat(20)
const none = "0".repeat(40)
/** Value of `pusher` where the delivery names none. */
export const nobody = "-"
const name = "shop/till"
const ada = { login: "ada", username: "ada" }
const eve = { login: "eve", username: "eve" }

const repository = { full_name: name, html_url: `https://host.test/${name}`, default_branch: "main" }

const pull = (fields: object = {}) => ({
  number: 12,
  title: "Round totals up",
  body: "",
  draft: false,
  user: ada,
  labels: [{ name: "money" }],
  html_url: `https://host.test/${name}/pulls/12`,
  head: { sha: head, ref: "rounding", repo: repository },
  base: { sha: base, ref: "main", repo: repository },
  ...fields
})

const pullTarget: Target = {
  repo: name,
  number: 12,
  head_sha: head,
  head_ref: "rounding",
  base_ref: "main",
  base_sha: base,
  draft: false,
  labels: ["money"],
  author: "ada"
}

const push = (fields: object = {}) => ({
  ref: "refs/heads/main",
  before: base,
  after: head,
  repository,
  pusher: { name: "ada", login: "ada" },
  sender: ada,
  commits: [{ id: head, message: "Round totals up", author: { name: "Ada", email: "ada@host.test" } }],
  ...fields
})

const pushTarget: Target = { repo: name, branch: "main", before: base, after: head }

const comment = { id: 5, body: "What about refunds?", user: ada }

type Row = readonly [event: string, action: string, decision: Decision, target: Target, payload: object]

const commonRows = (synchronized: string): ReadonlyArray<Row> => [
  ["pull_request", "opened", "review_pull_request", { ...pullTarget, pusher: "ada" }, { pull_request: pull() }],
  [
    "pull_request",
    "opened",
    "review_pull_request",
    { ...pullTarget, pusher: nobody },
    { pull_request: pull(), sender: eve }
  ],
  ["pull_request", "reopened", "review_pull_request", { ...pullTarget, pusher: nobody }, { pull_request: pull() }],
  [
    "pull_request",
    synchronized,
    "review_pull_request",
    { ...pullTarget, pusher: "eve" },
    { pull_request: pull(), sender: eve }
  ],
  ["pull_request", "closed", "ignore", { repo: name, number: 12 }, { pull_request: pull({ merged: true }) }],
  ["pull_request", "assigned", "ignore", { repo: name, pusher: nobody }, { pull_request: pull() }],
  ["issues", "opened", "issue", { repo: name, number: 3 }, { issue: { number: 3, title: "Wrong total", user: ada } }],
  ["issues", "closed", "ignore", { repo: name }, { issue: { number: 3, title: "Wrong total", user: ada } }],
  ["release", "published", "ignore", { repo: name }, { release: { tag_name: "v1" } }]
]

const pushRows: ReadonlyArray<Row> = [
  ["push", "", "review_push", pushTarget, push()],
  [
    "push",
    "",
    "policy",
    { ...pushTarget, branch: "new", before: none, created: true },
    push({ ref: "refs/heads/new", before: none, created: true })
  ],
  ["push", "", "ignore", { repo: name }, push({ ref: "refs/tags/v1" })],
  ["push", "", "ignore", { repo: name }, push({ after: none, deleted: true })]
]

const github = [
  ...commonRows("synchronize"),
  ...pushRows,
  [
    "pull_request",
    "opened",
    "review_pull_request",
    { ...pullTarget, draft: true },
    { pull_request: pull({ draft: true }) }
  ],
  ["pull_request", "ready_for_review", "review_pull_request", pullTarget, { pull_request: pull() }],
  ["pull_request", "labeled", "policy", pullTarget, { pull_request: pull() }],
  [
    "issue_comment",
    "created",
    "command",
    { repo: name, number: 12, body: comment.body },
    { issue: { number: 12, title: "x", pull_request: { url: "x" } }, comment }
  ],
  ["ping", "", "ping", {}, { zen: "Keep it small.", hook_id: 1 }],
  ["installation", "created", "lifecycle", {}, { installation: { id: 9, account: ada } }]
] satisfies ReadonlyArray<Row>

const gitea = [
  ...commonRows("synchronized"),
  ...pushRows,
  ["pull_request", "label_updated", "policy", pullTarget, { pull_request: pull() }],
  [
    "issue_comment",
    "created",
    "command",
    { repo: name, number: 12, body: comment.body },
    { is_pull: true, issue: { number: 12, title: "x", pull_request: { merged: false } }, comment }
  ],
  ["create", "", "ignore", { repo: name }, { ref: "v1", ref_type: "tag" }]
] satisfies ReadonlyArray<Row>

const project = { id: 7, path_with_namespace: name, web_url: `https://host.test/${name}`, default_branch: "main" }

const merge = (fields: object) => ({
  object_kind: "merge_request",
  project,
  user: ada,
  labels: [{ title: "money" }],
  object_attributes: {
    iid: 12,
    title: "Round totals up",
    source_branch: "rounding",
    target_branch: "main",
    last_commit: { id: head },
    draft: false,
    state: "opened",
    ...fields
  }
})

// GitLab sends the id of the author, not the name, and no commit of the target branch.
const mergeTarget: Target = { ...pullTarget, base_sha: null, author: null }

const gitlabPush = (fields: object = {}) => ({
  object_kind: "push",
  project,
  ref: "refs/heads/main",
  before: base,
  after: head,
  checkout_sha: head,
  user_username: "ada",
  commits: [{ id: head, message: "Round totals up", author: { name: "Ada", email: "ada@host.test" } }],
  ...fields
})

const gitlab = [
  ["Merge Request Hook", "open", "review_pull_request", mergeTarget, merge({ action: "open" })],
  [
    "Merge Request Hook",
    "reopen",
    "review_pull_request",
    { ...mergeTarget, pusher: nobody },
    merge({ action: "reopen" })
  ],
  [
    "Merge Request Hook",
    "update",
    "review_pull_request",
    { ...mergeTarget, pusher: "eve" },
    { ...merge({ action: "update", oldrev: base }), user: eve }
  ],
  [
    "Merge Request Hook",
    "update",
    "ignore",
    { repo: name, pusher: nobody },
    { ...merge({ action: "update" }), changes: { title: { previous: "a", current: "b" } } }
  ],
  ["Merge Request Hook", "merge", "ignore", { repo: name, number: 12 }, merge({ action: "merge", state: "merged" })],
  ["Merge Request Hook", "approved", "ignore", { repo: name }, merge({ action: "approved" })],
  ["Push Hook", "", "review_push", pushTarget, gitlabPush()],
  [
    "Push Hook",
    "",
    "policy",
    { ...pushTarget, branch: "new", before: none, created: true },
    gitlabPush({ ref: "refs/heads/new", before: none })
  ],
  ["Push Hook", "", "ignore", { repo: name }, gitlabPush({ after: none, checkout_sha: null })],
  ["Tag Push Hook", "", "ignore", { repo: name }, gitlabPush({ object_kind: "tag_push", ref: "refs/tags/v1" })],
  [
    "Note Hook",
    "",
    "command",
    { repo: name, number: 12, body: comment.body },
    {
      object_kind: "note",
      project,
      user: ada,
      merge_request: { iid: 12 },
      object_attributes: { id: 5, note: comment.body, noteable_type: "MergeRequest" }
    }
  ],
  [
    "Issue Hook",
    "open",
    "issue",
    { repo: name, number: 3 },
    { object_kind: "issue", project, user: ada, object_attributes: { iid: 3, title: "Wrong total", action: "open" } }
  ],
  ["Pipeline Hook", "", "ignore", { repo: name }, { object_kind: "pipeline", project }]
] satisfies ReadonlyArray<Row>

const rows = (host: ForgeKind, header: string, list: ReadonlyArray<Row>): ReadonlyArray<OwnPayload> =>
  list.map(([event, action, decision, target, payload], at) => ({
    file: `${host} ${at}, ${event} ${action}`.trim(),
    host,
    headers: { [header]: event },
    decision,
    target,
    payload: {
      ...(action === "" ? {} : { action }),
      ...(host === "gitlab" ? {} : { repository, sender: ada }),
      ...payload
    }
  }))

export const ownPayloads: ReadonlyArray<OwnPayload> = [
  ...rows("github", "X-GitHub-Event", github),
  ...rows("gitea", "X-Gitea-Event", gitea),
  ...rows("forgejo", "X-Forgejo-Event", gitea),
  ...rows("gitlab", "X-Gitlab-Event", gitlab)
]
