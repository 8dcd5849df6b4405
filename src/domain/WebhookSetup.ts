/**
 * Values to enter for a webhook at each host, with the names of its own pages and events. Used by the set-up page, the checks of webhooks and the
 * documents. Pure.
 */
import type { ForgeKind } from "./Kinds.ts"

interface WebhookEvent {
  /** Name in the API of the host. */
  readonly id: string
  /** Name on its page. */
  readonly name: string
}

export interface WebhookSetup {
  readonly host: string
  /** Path of the service, below `server.path_prefix`. */
  readonly path: string
  readonly place: string
  readonly contentType: string
  /** Events without which pull requests are not reviewed. */
  readonly reviews: ReadonlyArray<WebhookEvent>
  /** Events of commands in comments. */
  readonly commands: ReadonlyArray<WebhookEvent>
  /** Events of pushes, which are reviewed where that is configured. */
  readonly pushes: ReadonlyArray<WebhookEvent>
  /** Events of issues, for triage; empty where the service has none. */
  readonly issues: ReadonlyArray<WebhookEvent>
  /** Rights of the token. */
  readonly scopes: string
}

const gitea = {
  contentType: "POST, application/json",
  // The event of a pull request and that of its new commits are separate.
  reviews: [
    { id: "pull_request", name: "Pull Request" },
    { id: "pull_request_sync", name: "Pull Request Synchronized" }
  ],
  commands: [{ id: "pull_request_comment", name: "Pull Request Comment" }],
  pushes: [{ id: "push", name: "Push" }],
  issues: [{ id: "issues", name: "Issues" }],
  scopes: "write:repository, write:issue, read:user"
} as const

export const webhookSetups: Readonly<Record<ForgeKind, WebhookSetup>> = {
  gitea: {
    ...gitea,
    host: "Gitea",
    path: "/webhooks/gitea",
    place: "Repository → Settings → Webhooks → Add Webhook → Gitea"
  },
  forgejo: {
    ...gitea,
    host: "Forgejo",
    path: "/webhooks/forgejo",
    place: "Repository → Settings → Webhooks → Add webhook → Forgejo"
  },
  github: {
    host: "GitHub",
    path: "/webhooks/github",
    place: "Repository → Settings → Webhooks → Add webhook",
    contentType: "application/json",
    reviews: [{ id: "pull_request", name: "Pull requests" }],
    commands: [{ id: "issue_comment", name: "Issue comments" }],
    pushes: [{ id: "push", name: "Pushes" }],
    issues: [],
    scopes: "Contents: read, Pull requests: write, Issues: write, Commit statuses: write"
  },
  gitlab: {
    host: "GitLab",
    path: "/webhooks/gitlab",
    place: "Project → Settings → Webhooks → Add new webhook",
    contentType: "–",
    reviews: [{ id: "merge_requests_events", name: "Merge request events" }],
    commands: [{ id: "note_events", name: "Comments" }],
    pushes: [{ id: "push_events", name: "Push events" }],
    issues: [],
    scopes: "api"
  }
}

/** Returns the names of the events for reviews and commands, and of those that other uses need. */
export const listEventNames = ({ commands, issues, pushes, reviews }: WebhookSetup) => ({
  needed: [...reviews, ...commands].map(({ name }) => name),
  pushes: pushes.map(({ name }) => name),
  issues: issues.map(({ name }) => name)
})
