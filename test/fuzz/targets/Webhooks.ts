/** Bodies of webhooks, per host. The first line of an input names the event and, after a vertical bar, the content type. */
import webhookExamples from "@octokit/webhooks-examples" with { type: "json" }
import { Schema } from "effect"
import type { HostEvent } from "../../../src/domain/HostEvent.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import type { Headers } from "../../../src/forge/Forge.ts"
import { webhooks } from "../../../src/forge/Webhooks.ts"
import { hasContracts, readContract } from "../../harness/Contracts.ts"
import { isSignedBy, parseBody } from "../../harness/Verify.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure } from "../Target.ts"

const form = "application/x-www-form-urlencoded"

const repository = {
  id: 1,
  full_name: "acme/app",
  name: "app",
  owner: { login: "acme", username: "acme" },
  clone_url: "https://host.test/acme/app.git",
  html_url: "https://host.test/acme/app",
  default_branch: "main"
}
const pull = {
  number: 7,
  title: "Add a cache",
  body: "Closes #1",
  state: "open",
  draft: false,
  html_url: "https://host.test/acme/app/pulls/7",
  user: { id: 3, login: "ada", email: "ada@host.test" },
  labels: [{ id: 1, name: "bug" }],
  head: { ref: "cache", sha: "a".repeat(40), repo: repository },
  base: { ref: "main", sha: "b".repeat(40), repo: repository }
}
const sender = { id: 3, login: "ada", username: "ada" }

/** Events that Gitea and Forgejo send, as the documents of both say. */
const giteaEvents: ReadonlyArray<readonly [string, object]> = [
  ["pull_request", { action: "opened", number: 7, pull_request: pull, repository, sender }],
  ["pull_request", { action: "closed", number: 7, pull_request: { ...pull, merged: true }, repository, sender }],
  ["pull_request_label", { action: "label_updated", number: 7, pull_request: pull, repository, sender }],
  [
    "push",
    {
      ref: "refs/heads/main",
      before: "a".repeat(40),
      after: "b".repeat(40),
      commits: [{ id: "b".repeat(40) }],
      repository,
      pusher: sender,
      sender
    }
  ],
  [
    "issue_comment",
    {
      action: "created",
      is_pull: true,
      issue: { number: 7, title: "t", pull_request: {} },
      comment: { id: 9, body: "/aicr review", user: sender },
      repository,
      sender
    }
  ],
  ["issues", { action: "opened", issue: { number: 8, title: "t", body: "b", user: sender }, repository, sender }]
]

const project = {
  id: 5,
  path_with_namespace: "acme/app",
  web_url: "https://lab.test/acme/app",
  git_http_url: "https://lab.test/acme/app.git",
  default_branch: "main"
}
const merge = {
  iid: 7,
  title: "Add a cache",
  description: "text",
  state: "opened",
  draft: false,
  source_branch: "cache",
  target_branch: "main",
  last_commit: { id: "a".repeat(40) },
  url: "https://lab.test/acme/app/-/merge_requests/7"
}
const gitlabEvents: ReadonlyArray<readonly [string, object]> = [
  [
    "Merge Request Hook",
    {
      object_kind: "merge_request",
      user: { id: 3, username: "ada" },
      project,
      object_attributes: { ...merge, action: "open" }
    }
  ],
  [
    "Merge Request Hook",
    {
      object_kind: "merge_request",
      user: { id: 3, username: "ada" },
      project,
      object_attributes: { ...merge, action: "update", oldrev: "1".repeat(40) },
      changes: { draft: { previous: true, current: false } }
    }
  ],
  [
    "Note Hook",
    {
      object_kind: "note",
      user: { username: "ada" },
      project,
      object_attributes: { id: 9, note: "/aicr review", noteable_type: "MergeRequest", action: "create" },
      merge_request: merge
    }
  ],
  [
    "Push Hook",
    {
      object_kind: "push",
      ref: "refs/heads/main",
      before: "a".repeat(40),
      after: "b".repeat(40),
      user_username: "ada",
      project,
      commits: [{ id: "b".repeat(40), message: "m" }]
    }
  ],
  [
    "System Hook",
    { event_name: "push", ref: "refs/heads/main", before: "a".repeat(40), after: "b".repeat(40), project, commits: [] }
  ],
  [
    "Issue Hook",
    {
      object_kind: "issue",
      user: { username: "ada" },
      project,
      object_attributes: { iid: 8, title: "t", description: "d", action: "open" }
    }
  ]
]

const Example = Schema.Struct({
  name: Schema.String,
  examples: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
})
const recorded = ["pull_request", "push", "issue_comment", "issues", "ping", "installation"]

/** Recorded payloads of GitHub. */
const githubEvents: ReadonlyArray<readonly [string, object]> = Schema.decodeUnknownSync(Schema.Array(Example))(
  webhookExamples
)
  .filter(({ name }) => recorded.includes(name))
  .flatMap(({ name, examples }) => examples.slice(0, 4).map((example): readonly [string, object] => [name, example]))

const Manifest = Schema.Struct({
  payloads: Schema.Array(Schema.Struct({ file: Schema.String, host: Schema.String, event: Schema.String }))
})

/** Deliveries that were recorded at this host; none where the recordings are missing. */
const recordedOf = (host: ForgeKind): ReadonlyArray<readonly [string, object]> => {
  if (!hasContracts) return []
  const { payloads } = Schema.decodeUnknownSync(Manifest)(readContract("payloads/manifest.json"))
  return payloads
    .filter((one) => one.host === host)
    .map(({ event, file }) => [event, Object(readContract(`payloads/${file}`))] as const)
}

const eventHeader: Readonly<Record<ForgeKind, string>> = {
  gitea: "x-gitea-event",
  forgejo: "x-forgejo-event",
  github: "x-github-event",
  gitlab: "x-gitlab-event"
}

const newline = 10

const read = (host: ForgeKind, input: Uint8Array): { readonly headers: Headers; readonly body: Uint8Array } => {
  const end = input.indexOf(newline)
  const [event = "", type] = Buffer.from(input.subarray(0, Math.max(0, end)))
    .toString("latin1")
    .split("|")
  return {
    headers: { [eventHeader[host]]: event, "content-type": type === "form" ? form : "application/json" },
    body: input.subarray(end + 1)
  }
}

const seed = ([event, payload]: readonly [string, object]): ReadonlyArray<Uint8Array> => [
  bytes(`${event}|json\n${JSON.stringify(payload)}`),
  bytes(`${event}|form\n${new URLSearchParams({ payload: JSON.stringify(payload) })}`)
]

/** Everything that becomes a ref, an argument or a record has a bounded form. */
const checkEvent = (event: HostEvent): void => {
  if ("number" in event && event.number !== undefined)
    ensure(Number.isSafeInteger(event.number) && event.number > 0, "a number is a positive integer")
  if (event._tag === "Pushed") {
    ensure(/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(event.after), "the pushed commit is an object id")
    ensure(!event.branch.startsWith("-"), "a branch is not an option")
    ensure(event.listed.length <= 100, "at most a hundred commits are listed")
  }
  if ("repo" in event && event.repo !== undefined) {
    ensure(event.repo.fullName.length <= 1024, "a repository name is bounded")
    ensure(!event.repo.fullName.split("/").includes(".."), "a repository name does not leave its folder")
  }
}

const target = (host: ForgeKind, events: ReadonlyArray<readonly [string, object]>): FuzzTarget => ({
  name: `webhook-${host}`,
  maxBytes: 65_536,
  seeds: () => [...events, ...recordedOf(host)].flatMap(seed),
  words: [
    "action",
    "opened",
    "synchronize",
    "refs/heads/",
    "0".repeat(40),
    "full_name",
    "|form\n",
    "|json\n",
    "payload=",
    "%7B",
    "/aicr review"
  ],
  check: (input) => {
    const { headers, body } = read(host, input)
    const webhook = webhooks[host]
    ensure(!isSignedBy(webhook, "fuzz", headers, body), "nothing verifies without a signature")
    const unsigned = { ...headers, "x-hub-signature-256": "sha256=", "x-gitea-signature": "", "x-gitlab-token": "" }
    ensure(!isSignedBy(webhook, "fuzz", unsigned, body), "an empty signature does not verify")
    webhook.deliveryId(headers, body)
    const parsed = parseBody(webhook, headers, body)
    if (parsed._tag === "Event") checkEvent(parsed.event)
    else ensure(parsed.issues.length <= 100, "the list of issues is bounded")
  }
})

export const webhookTargets: ReadonlyArray<FuzzTarget> = [
  target("gitea", giteaEvents),
  target("forgejo", giteaEvents),
  target("github", githubEvents),
  target("gitlab", gitlabEvents)
]
