/**
 * Events that each use of a host needs, and what to enter for a webhook at each host, with the names of its own pages. The one table for the
 * set-up page, the checks of webhooks, the inventory, `aicr setup` and docs/webhooks.md. Pure.
 */
import type { ForgeKind } from "./Kinds.ts"
import type { Reason } from "./Reason.ts"

interface WebhookEvent {
  /** Name in the API of the host. */
  readonly id: string
  /** Name on its page. */
  readonly name: string
}

/** Settings of a workspace that decide which features it uses. */
interface FeatureUse {
  readonly review: {
    readonly auto_commit: { readonly include_branches?: ReadonlyArray<string> | undefined }
    readonly comment_commands: boolean
    readonly status_check: boolean
    readonly conversation: { readonly enabled: boolean }
  }
  readonly triage: { readonly enabled: boolean }
}

interface FeatureSetup {
  /** Returns whether a workspace cannot do without the events. */
  readonly isUsed: (workspace: FeatureUse) => boolean
  /** Events by host; empty where the service does not have the feature. */
  readonly events: Readonly<Record<ForgeKind, ReadonlyArray<WebhookEvent>>>
  /** Rights of the credential by host. */
  readonly rights: Readonly<Record<ForgeKind, ReadonlyArray<string>>>
}

const always = (): boolean => true
const never = (): boolean => false
const ofGitea = <A>(value: A) => ({ gitea: value, forgejo: value })

/** One row for each use. The first ones are what every webhook needs. */
const featureTable = {
  reviews: {
    isUsed: always,
    events: {
      // The event of a pull request and that of its new commits are separate.
      ...ofGitea([
        { id: "pull_request", name: "Pull Request" },
        { id: "pull_request_sync", name: "Pull Request Synchronized" }
      ]),
      github: [{ id: "pull_request", name: "Pull requests" }],
      gitlab: [{ id: "merge_requests_events", name: "Merge request events" }]
    },
    rights: {
      ...ofGitea(["write:repository", "write:issue", "read:user"]),
      github: [
        "Contents: read",
        "Pull requests: write",
        "Issues: write",
        "Commit statuses: write (of an app Checks: write)"
      ],
      gitlab: ["api"]
    }
  },
  commands: {
    isUsed: always,
    events: {
      ...ofGitea([{ id: "pull_request_comment", name: "Pull Request Comment" }]),
      github: [{ id: "issue_comment", name: "Issue comments" }],
      gitlab: [{ id: "note_events", name: "Comments" }]
    },
    rights: { ...ofGitea(["write:issue"]), github: ["Pull requests: write", "Issues: write"], gitlab: ["api"] }
  },
  // Comments of the events for commands get replies, too.
  conversations: {
    isUsed: ({ review }) => review.comment_commands && review.conversation.enabled,
    events: {
      ...ofGitea([{ id: "issue_comment", name: "Issue Comment" }]),
      github: [
        { id: "pull_request_review_comment", name: "Pull request review comments" },
        { id: "pull_request_review", name: "Pull request reviews" },
        { id: "commit_comment", name: "Commit comments" }
      ],
      gitlab: []
    },
    rights: { ...ofGitea(["write:issue"]), github: ["Pull requests: write", "Issues: write"], gitlab: [] }
  },
  pushes: {
    isUsed: ({ review }) => (review.auto_commit.include_branches ?? []).length > 0,
    events: {
      ...ofGitea([{ id: "push", name: "Push" }]),
      github: [{ id: "push", name: "Pushes" }],
      gitlab: [{ id: "push_events", name: "Push events" }]
    },
    rights: {
      ...ofGitea(["write:repository"]),
      github: ["Contents: read"],
      gitlab: ["api"]
    }
  },
  issues: {
    isUsed: ({ triage }) => triage.enabled,
    events: { ...ofGitea([{ id: "issues", name: "Issues" }]), github: [], gitlab: [] },
    rights: { ...ofGitea(["write:issue"]), github: [], gitlab: [] }
  },
  // A required check ends in the merge queue only if the group is reported.
  merges: {
    isUsed: ({ review }) => review.status_check,
    events: { ...ofGitea([]), github: [{ id: "merge_group", name: "Merge groups" }], gitlab: [] },
    rights: { ...ofGitea([]), github: ["Merge queues: read (of an app)"], gitlab: [] }
  },
  // The button that repeats a check, which only the app that wrote it gets: webhooks of repositories do without.
  checks: {
    isUsed: never,
    events: {
      ...ofGitea([]),
      github: [
        { id: "check_run", name: "Check runs" },
        { id: "check_suite", name: "Check suites" }
      ],
      gitlab: []
    },
    rights: { ...ofGitea([]), github: [], gitlab: [] }
  }
} satisfies Readonly<Record<string, FeatureSetup>>

type WebhookFeature = keyof typeof featureTable

export const webhookFeatures: Readonly<Record<WebhookFeature, FeatureSetup>> = featureTable

interface WebhookSetup {
  readonly host: string
  /** Path of the service, below `server.path_prefix`. */
  readonly path: string
  /** Page for one webhook of a repository, and for one of an organisation or group. */
  readonly place: string
  readonly ownerPlace: string
  readonly contentType: string
  /** Rights of a credential that lists, creates and repairs webhooks. */
  readonly hookRights: Reason
}

const gitea = { contentType: "POST, application/json", hookRights: { _tag: "RepositoryAdministrator" } } as const

export const webhookSetups: Readonly<Record<ForgeKind, WebhookSetup>> = {
  gitea: {
    ...gitea,
    host: "Gitea",
    path: "/webhooks/gitea",
    place: "Repository → Settings → Webhooks → Add Webhook → Gitea",
    ownerPlace: "Organization → Settings → Webhooks → Add Webhook → Gitea"
  },
  forgejo: {
    ...gitea,
    host: "Forgejo",
    path: "/webhooks/forgejo",
    place: "Repository → Settings → Webhooks → Add webhook → Forgejo",
    ownerPlace: "Organization → Settings → Webhooks → Add webhook → Forgejo"
  },
  github: {
    host: "GitHub",
    path: "/webhooks/github",
    place: "Repository → Settings → Webhooks → Add webhook",
    ownerPlace: "Organization → Settings → Webhooks → Add webhook",
    contentType: "application/json",
    hookRights: { _tag: "WebhooksWrite" }
  },
  gitlab: {
    host: "GitLab",
    path: "/webhooks/gitlab",
    place: "Project → Settings → Webhooks → Add new webhook",
    ownerPlace: "Group → Settings → Webhooks → Add new webhook",
    contentType: "–",
    hookRights: { _tag: "MaintainerWithApiScope" }
  }
}

const allFeatures = Object.keys(featureTable) as ReadonlyArray<WebhookFeature>

/** Returns the features that have events at a host. */
export const listFeatures = (kind: ForgeKind): ReadonlyArray<WebhookFeature> =>
  allFeatures.filter((feature) => webhookFeatures[feature].events[kind].length > 0)

/** Returns the features at a host that one of these workspaces uses. */
export const listUsedFeatures = (
  kind: ForgeKind,
  workspaces: ReadonlyArray<FeatureUse>
): ReadonlyArray<WebhookFeature> =>
  listFeatures(kind).filter((feature) => workspaces.some(webhookFeatures[feature].isUsed))

/** Returns the events of features at a host. */
export const listEvents = (kind: ForgeKind, features: ReadonlyArray<WebhookFeature>): ReadonlyArray<WebhookEvent> =>
  features.flatMap((feature) => webhookFeatures[feature].events[kind])

/** Returns the rights of the credential for all features of a host, each once. */
export const listRights = (kind: ForgeKind): ReadonlyArray<string> => [
  ...new Set(listFeatures(kind).flatMap((feature) => webhookFeatures[feature].rights[kind]))
]
